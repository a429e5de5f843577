import { listHelp } from "./manual.ts";
import { makeFile } from "./made-file.ts";

const head = `# Command line

What \`--help\` prints of each command. [contract.md](contract.md) says what of it stays as it is, and
[commands-json.md](commands-json.md) what \`--json\` prints.

This page is made from the code by \`node packaging/command-line-page.ts\`.
`;

const sections = listHelp().map(
  ({ words, help }) => `## ${words}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`,
);

/** docs/command-line.md. */
export const commandLinePage = await makeFile(
  "docs/command-line.md",
  import.meta,
  `${head}\n${sections.join("\n")}`,
);
