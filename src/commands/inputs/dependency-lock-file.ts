import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { parseVersion, type Version } from "../../address/version.ts";
import { InputInvalid, MalformedAddress } from "../../errors/index.ts";
import {
  parseLockFileSyntax,
  type Attribute,
  type Block,
  type Body,
} from "./dependency-lock-file-syntax.ts";
import { isMark, type Token } from "./dependency-lock-file-tokens.ts";
import { readInputFile } from "./input-file.ts";

/** The name that clients give to the file. */
export const lockFileName = ".terraform.lock.hcl";

/** One `provider` block; `where` is FILE:LINE. */
export interface ProviderLock {
  readonly provider: ProviderAddress;
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly name: string;
  readonly version: Version;
  readonly constraints: string | undefined;
  readonly hashes: readonly string[];
  readonly where: string;
  readonly block: Block;
  /** The hashes argument from `[` to `]`, comments included; undefined without one. */
  readonly list: readonly Token[] | undefined;
}

/** A dependency lock file as it is written and as it is understood. */
export interface DependencyLockFile {
  readonly file: string;
  readonly text: string;
  readonly locks: readonly ProviderLock[];
  /** Entries that no client could use; they are left alone. */
  readonly problems: readonly InputInvalid[];
  /** Undefined when the file could not be understood as a whole. */
  readonly body: Body | undefined;
}

/** Never throws for what is in the file: that is among the problems. */
export async function readDependencyLockFile(
  path: string,
): Promise<DependencyLockFile> {
  try {
    return parseDependencyLockFile(path, await readInputFile(path));
  } catch (error) {
    if (!(error instanceof InputInvalid)) throw error;
    return emptyLockFile(path, "", [error]);
  }
}

/** What the clients' loader accepts (depsfile, "LoadLocksFromBytes"); entries that it refuses are problems. */
export function parseDependencyLockFile(
  file: string,
  text: string,
): DependencyLockFile {
  try {
    const body = parseLockFileSyntax(file, text);
    const found = readLocks(file, body);
    return { file, text, body, ...found };
  } catch (error) {
    if (!(error instanceof InputInvalid)) throw error;
    return emptyLockFile(file, text, [error]);
  }
}

function emptyLockFile(
  file: string,
  text: string,
  problems: readonly InputInvalid[],
): DependencyLockFile {
  return { file, text, locks: [], problems, body: undefined };
}

function readLocks(file: string, body: Body) {
  const locks = new Map<string, ProviderLock>();
  const problems: InputInvalid[] = [];
  for (const block of body.blocks.filter(
    ({ type }) => type.text === "provider",
  ))
    try {
      const where = `${file}:${block.type.line}`;
      const lock = readLock(where, block);
      const earlier = locks.get(lock.name);
      if (earlier !== undefined)
        throw new InputInvalid(
          where,
          `${lock.name} is locked already at ${earlier.where}: remove one of the two.`,
        );
      locks.set(lock.name, lock);
    } catch (error) {
      if (!(error instanceof InputInvalid)) throw error;
      problems.push(error);
    }
  return { locks: [...locks.values()], problems };
}

function readLock(where: string, block: Block): ProviderLock {
  const provider = readAddress(where, block);
  const name = formatProviderAddress(provider);
  const attributes = new Map(
    block.body.attributes.map((one) => [one.name.text, one]),
  );
  const version = readString(where, attributes.get("version"));
  if (version === undefined)
    throw new InputInvalid(
      where,
      `${name} has no version: let "init" write it anew.`,
    );
  const list = readList(where, attributes.get("hashes"));
  return {
    provider,
    name,
    version: parsed(where, () => parseVersion(version)),
    constraints: readString(where, attributes.get("constraints")),
    hashes: (list ?? [])
      .filter(({ kind }) => kind === "string")
      .map(({ text }) => text),
    where,
    block,
    list,
  };
}

/** Clients want the address whole and in normal form. */
function readAddress(where: string, { labels }: Block): ProviderAddress {
  const [label, ...others] = labels;
  const text = label?.text ?? "";
  if (others.length > 0 || text.split("/").length !== 3)
    throw new InputInvalid(
      where,
      `${JSON.stringify(text)} is not a provider address: expected HOSTNAME/NAMESPACE/TYPE.`,
    );
  if (text.includes("/-/"))
    throw new InputInvalid(
      where,
      `${text} is a provider address of Terraform 0.12: name its namespace in required_providers and run "init".`,
    );
  return parsed(where, () => parseProviderAddress(text));
}

function parsed<T>(where: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof MalformedAddress)) throw error;
    throw new InputInvalid(where, error.message, { cause: error });
  }
}

function readString(
  where: string,
  attribute: Attribute | undefined,
): string | undefined {
  if (attribute === undefined) return undefined;
  const [token, ...others] = attribute.value;
  if (token === undefined || others.length > 0 || !isPlain(token))
    throw new InputInvalid(
      where,
      `"${attribute.name.text}" is not a plain string.`,
    );
  return token.text;
}

function readList(
  where: string,
  attribute: Attribute | undefined,
): readonly Token[] | undefined {
  if (attribute === undefined) return undefined;
  const { value, written } = attribute;
  const [open, close] = [value[0], value.at(-1)];
  const isList =
    isMark(open, "[") &&
    isMark(close, "]") &&
    value
      .slice(1, -1)
      .every((token, index) =>
        index % 2 === 0 ? isPlain(token) : isMark(token, ","),
      );
  if (!isList || open === undefined || close === undefined)
    throw new InputInvalid(where, '"hashes" is not a list of plain strings.');
  return written.slice(written.indexOf(open), written.indexOf(close) + 1);
}

/** Without escapes and templates, which no version and no hash contains. */
function isPlain({ kind, text }: Token): boolean {
  return kind === "string" && !/[\\]|[$%]\{/.test(text);
}
