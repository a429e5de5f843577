import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
  type Pair,
  type YAMLError,
} from "yaml";

/** Keys and indexes from the root of the document. */
export type Path = readonly (string | number)[];

/** Problem of the configuration, with its line if there is one. */
export interface Problem {
  readonly line: number | undefined;
  readonly message: string;
}

/** The plain value of one YAML 1.2 document, with the lines of its keys; no value when it has problems. */
export interface YamlDocument {
  readonly value: unknown;
  readonly problems: readonly Problem[];
  lineOf(path: Path): number | undefined;
}

const maxAliasCount = 100;

export function parseYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    merge: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  const problems = [
    ...syntaxProblems(document, text, lineAt),
    ...structureProblems(document, lineAt),
  ];
  return {
    ...plainValue(document, problems),
    lineOf: (path) => {
      const offset = offsetOf(document, path);
      return offset === undefined ? undefined : lineAt(offset);
    },
  };
}

function syntaxProblems(
  document: Document,
  text: string,
  lineAt: (offset: number) => number,
): Problem[] {
  return [...document.errors, ...document.warnings].map((error) => ({
    line: lineAt(error.pos[0]),
    message: syntaxMessage(error, text),
  }));
}

function syntaxMessage(error: YAMLError, text: string): string {
  if (error.code === "MULTIPLE_DOCS") return "a second document starts here";
  if (error.code !== "DUPLICATE_KEY") return `not valid YAML: ${error.message}`;
  const key = /^["']?([^\s"':]*)/.exec(text.slice(error.pos[0]))?.[1] ?? "";
  return `the key "${key}" appears twice: leave one of them out`;
}

/** Finds what YAML allows and plain values cannot hold. */
function structureProblems(
  document: Document,
  lineAt: (offset: number) => number,
): Problem[] {
  const problems: Problem[] = [];
  const add = (node: unknown, message: string) =>
    problems.push({ line: lineAt(startOf(node) ?? 0), message });
  visit(document, {
    Pair: (_, pair) => {
      if (keyText(pair) === undefined)
        add(pair.key, "a key must be plain text, in quotes if need be");
    },
    Alias: (_, alias) => {
      if (!alias.resolve(document))
        add(alias, `not valid YAML: nothing is named &${alias.source}`);
    },
  });
  return problems;
}

/** An alias bomb ends here. */
function plainValue(
  document: Document,
  problems: readonly Problem[],
): Pick<YamlDocument, "value" | "problems"> {
  if (problems.length > 0) return { value: undefined, problems };
  try {
    return { value: document.toJS({ maxAliasCount }), problems };
  } catch (error) {
    const message = `not valid YAML: ${error instanceof Error ? error.message : String(error)}`;
    return { value: undefined, problems: [{ line: undefined, message }] };
  }
}

/** Where the key of the last step stands that the document has. */
function offsetOf(document: Document, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const step of path) {
    const collection = isAlias(node) ? node.resolve(document) : node;
    const item = isCollection(collection)
      ? itemOf(collection, step)
      : undefined;
    if (!item) break;
    node = item.value;
    offset = startOf(item.key) ?? startOf(node) ?? offset;
  }
  return offset;
}

function itemOf(
  collection: Node,
  step: string | number,
): { readonly key: unknown; readonly value: unknown } | undefined {
  if (isMap(collection))
    return collection.items.find((pair) => keyText(pair) === String(step));
  const value = isCollection(collection) ? collection.get(step, true) : null;
  return isNode(value) ? { key: undefined, value } : undefined;
}

function keyText(pair: Pair): string | undefined {
  const key = isScalar(pair.key) ? pair.key.value : undefined;
  return typeof key === "string" ? key : undefined;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
