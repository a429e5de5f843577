import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type YAMLError,
} from "yaml";

export type Path = readonly (string | number)[];

/** Problem of the configuration, with its line if there is one. */
export interface Problem {
  readonly line: number | undefined;
  readonly message: string;
}

/** The plain value of one YAML 1.2 document, with the lines of its keys; as much of it as can be read when it has problems. */
export interface YamlDocument {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The line of the last step that the document has. */
  lineOf(path: Path): number | undefined;
}

/** An alias bomb ends here. */
const maxAliasCount = 100;

export function parseYaml(text: string): YamlDocument {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    ...({ version: "1.2", schema: "core", merge: false } as const),
    ...{ stringKeys: true, prettyErrors: false, lineCounter },
  });
  const lineAt = (offset: number) => lineCounter.linePos(offset).line;
  const problems: Problem[] = [...document.errors, ...document.warnings].map(
    (error) => ({
      line: lineAt(error.pos[0]),
      message: explained[error.code] ?? `not valid YAML: ${error.message}`,
    }),
  );
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount });
  } catch (error) {
    // What is found here, such as an alias of nothing, has no line.
    const message = `not valid YAML: ${(error as Error).message}`;
    if (problems.length === 0) problems.push({ line: undefined, message });
  }
  return {
    value,
    problems,
    lineOf: (path) => {
      const offset = findOffset(document, path);
      return offset === undefined ? undefined : lineAt(offset);
    },
  };
}

const explained: Partial<Record<YAMLError["code"], string>> = {
  MULTIPLE_DOCS: "a second document starts here",
  DUPLICATE_KEY: "this key appears twice: leave one of them out",
  NON_STRING_KEY: "a key must be plain text, in quotes if need be",
};

function findOffset(document: Document, path: Path): number | undefined {
  let node = document.contents as Node | null | undefined;
  let offset = node?.range?.[0];
  for (const step of path) {
    const parent = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap<Node, Node>(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === step)
      : undefined;
    node = isSeq<Node>(parent) ? parent.items[Number(step)] : pair?.value;
    const found = pair?.key.range ?? node?.range;
    if (!found) break;
    offset = found[0];
  }
  return offset;
}
