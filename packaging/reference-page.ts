import { writeFileSync } from "node:fs";
import { format } from "prettier";

/** A page of docs/ that is made from the code. */
export interface ReferencePage {
  /** In docs/. */
  readonly name: string;
  readonly text: string;
}

/** `source` is the module that makes the page, by its `import.meta`: run as a program, it writes it. */
export async function makePage(
  name: string,
  source: ImportMeta,
  markdown: string,
): Promise<ReferencePage> {
  const text = await format(markdown, { parser: "markdown" });
  if (source.main)
    writeFileSync(new URL(`../docs/${name}`, import.meta.url), text);
  return { name, text };
}
