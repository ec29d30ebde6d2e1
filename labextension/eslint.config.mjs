import jupyter from '@jupyter/eslint-plugin';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['lib', 'node_modules'] },
  ...tseslint.configs.strictTypeChecked.map(config => ({
    ...config,
    files: ['**/*.ts', '**/*.tsx']
  })),
  ...jupyter.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './test/tsconfig.json'] }
    },
    rules: {
      curly: ['error', 'all'],
      eqeqeq: 'error',
      'prefer-arrow-callback': 'error',
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'interface',
          format: ['PascalCase'],
          custom: { regex: '^I[A-Z]', match: true }
        }
      ],
      // Lumino signals take the method and its `this` apart, and put them together again.
      '@typescript-eslint/unbound-method': 'off',
      // The plugins need their parts as soon as they are activated, and the whole is small.
      'jupyter/prefer-lazy-imports': 'off',
      // Numbers in messages and class names read well without a conversion.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true }
      ]
    }
  }
);
