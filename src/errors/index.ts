import {
  cutShort,
  table,
  type Facts,
  type Guidance,
  type Texts,
  type Values,
} from "./table.ts";

export {
  cutShort,
  formatApproval,
  formatKeyApproval,
  isModuleType,
  nameContent,
  type ProviderRelease,
} from "./table.ts";

type Table = typeof table;

/** Each cause for which provender refuses or fails. */
export type ErrorCode = keyof Table;

type Names<C extends ErrorCode> = Table[C]["facts"];

/** An error of the table; its facts are fields of their own. */
export type Failure<C extends ErrorCode = ErrorCode> = C extends ErrorCode
  ? ProvenderError & { readonly code: C } & Facts<Names<C>>
  : never;

export class ProvenderError extends Error {
  readonly code: ErrorCode;
  /** The cause without the remedy. */
  readonly sentence: string;
  /** In the imperative; undefined where the sentence says all. */
  readonly remedy: string | undefined;

  constructor(code: ErrorCode, facts: object, options?: ErrorOptions) {
    const texts: Texts<never> = table[code];
    const sentence = fill(texts.sentence, facts) ?? "";
    const remedy = fill(texts.remedy, facts);
    // Without the full stop behind a list of commands, which are copied.
    const stop = remedy?.includes("\n") === true ? "" : ".";
    const message = remedy === undefined ? "" : `: ${remedy}${stop}`;
    super(`${sentence}${message}`, options);
    Object.assign(this, facts);
    this.code = code;
    this.sentence = sentence;
    this.remedy = remedy;
  }

  override get name(): string {
    return this.code;
  }
}

/** Makes the error of a code from its facts, in the order of the table. */
export function failure<C extends ErrorCode>(
  code: C,
  ...given: [...Values<Names<C>>, options?: ErrorOptions]
): Failure<C> {
  const values: readonly unknown[] = given;
  const names = factsOf(code);
  const facts: Record<string, unknown> = {};
  for (const [at, name] of names.entries()) facts[name] = values[at];
  const options = values[names.length] as ErrorOptions | undefined;
  return new ProvenderError(code, facts, options) as Failure<C>;
}

export function isFailure<C extends ErrorCode>(
  error: unknown,
  ...codes: readonly C[]
): error is Failure<C> {
  const known: readonly ErrorCode[] = codes;
  return error instanceof ProvenderError && known.includes(error.code);
}

export const errorCodes = Object.keys(table) as readonly ErrorCode[];

export function factsOf(code: ErrorCode): readonly string[] {
  return table[code].facts;
}

export function statusOfCode(code: ErrorCode): number {
  const { status = 500 }: Texts<never> = table[code];
  return status;
}

export function phraseOf(error: ProvenderError): string | undefined {
  const { phrase }: Texts<never> = table[error.code];
  return fill(phrase, error);
}

/** The operator's own words in a refusal. */
export function guidanceOf(error: ProvenderError): Partial<Guidance> {
  return (error as { guidance?: Guidance }).guidance ?? {};
}

/** A text names facts in braces. */
function fill(text: Texts<never>["phrase"], facts: object): string | undefined {
  if (typeof text === "function") return text(facts as never);
  const values = facts as Readonly<Record<string, unknown>>;
  return text?.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name]),
  );
}

/** True only when an origin said that the thing does not exist; never for "could not tell". */
export function isAbsence(error: unknown) {
  return isFailure(error, "not-found", "not-stored");
}

/** True when the bucket could not be asked, or would not do it: that says nothing about what is in it. */
export function isBucketFailure(error: unknown) {
  return isFailure(error, "bucket-unreachable", "bucket-refuses");
}

/** True when what the mirror knows could not be read: that says nothing about what is there. */
export function isUnread(error: unknown) {
  return isFailure(error, "record-unreadable", "database-unreachable");
}

/** True when the origin failed, or a signature could not be decided on in time: neither says whether the thing exists or is genuine. */
export function isOriginFailure(error: unknown): boolean {
  return isFailure(
    error,
    "origin-unreachable",
    "origin-timeout",
    "origin-status",
    "origin-busy",
    "origin-suspended",
    "origin-credentials",
    "origin-answer",
    "origin-address-refused",
    "signature-undecided",
  );
}

/** True for a body that ended before its announced end, or whose transfer broke. */
export function isCut(error: unknown): boolean {
  return isFailure(error, "origin-answer") && error.reason === cutShort;
}

/** Returns the result of `read`; undefined where that throws malformed-address, as for the name of a foreign file. */
export function ifAddress<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    return undefined;
  }
}
