import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { format } from "prettier";
import { root } from "./project.ts";

/** A file of this project that is made from others. */
export interface MadeFile {
  /** From the top of the project. */
  readonly path: string;
  readonly text: string;
}

/** `source` is the module that makes the file, by its `import.meta`: run as a program, it writes it. */
export async function makeFile(
  path: string,
  source: ImportMeta,
  draft: string,
): Promise<MadeFile> {
  const text = await format(draft, { filepath: path });
  if (source.main) writeFileSync(join(root, path), text);
  return { path, text };
}
