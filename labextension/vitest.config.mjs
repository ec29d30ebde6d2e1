import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.spec.ts'],
    environment: 'node',
    // Yjs says this of every cell that is made before it stands in a notebook, as ydoc makes them.
    onConsoleLog: log => !log.includes('Add Yjs type to a document')
  }
});
