// The bundler reads the one version of the front end from its package.json.
declare module '*/package.json' {
  const manifest: { readonly version: string };
  export default manifest;
}
