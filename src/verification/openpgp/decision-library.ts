import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

const description = findPackageJSON("openpgp", import.meta.url) ?? "";
const { version } = JSON.parse(readFileSync(description, "utf8")) as {
  readonly version: string;
};

/** Name and version of the library that does the arithmetic; said without loading it, which only its threads do. */
export const decisionLibrary = `openpgp ${version}`;
