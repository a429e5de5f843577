import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The program of that name; says on standard error what is not tested without it. */
export function findOnPath(name: string, untested?: string) {
  const found = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
  if (found === undefined && untested !== undefined)
    console.error(`NOT TESTED: ${untested}: there is no ${name} on PATH.`);
  return found;
}
