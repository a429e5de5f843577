import { readFileSync } from "node:fs";

/** This program's, as package.json has it. */
export const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };
