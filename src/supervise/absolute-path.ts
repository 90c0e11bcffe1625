/** Folds `.`, `..` and doubled slashes without looking at the file system. */
export function absolutePath(path: string, base: string): string {
  const whole = path.startsWith("/") ? path : `${base}/${path}`;
  if (!whole.includes("//") && !whole.includes("/.") && !whole.endsWith("/")) return whole;
  const parts: string[] = [];
  for (const part of whole.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return `/${parts.join("/")}`;
}
