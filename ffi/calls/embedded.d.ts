/** A shared library that the build puts into the binary; the import is its path there. */
declare module "*.so" {
  const path: string;
  export default path;
}
