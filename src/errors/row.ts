import type { ProviderRelease } from "./release.ts";

/** The operator's own words for people who are refused, in printable ASCII. */
export interface Guidance {
  readonly because: string | undefined;
  readonly contact: string | undefined;
}

/** The facts of errors by their names; all others are texts. */
interface Known {
  /** When a version becomes old enough; undefined when its age is not known. */
  readonly availableAt: Date | undefined;
  readonly because: "revoked" | "not-pinned" | "unknown";
  readonly computed: readonly string[];
  readonly found: number;
  readonly guidance: Guidance;
  /** True when nothing says when a version was published. */
  readonly isUndated: boolean;
  readonly known: number;
  readonly line: number;
  readonly listed: readonly string[];
  readonly most: number;
  readonly owner: number;
  readonly perMinute: number;
  readonly missing: "signature" | "signing key" | "network mirror";
  readonly reasons: readonly string[];
  readonly release: ProviderRelease;
  readonly remedy: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly size: number;
  readonly status: number;
  readonly user: number;
  /** Undefined when all versions are meant. */
  readonly version: string | undefined;
  /** Why an origin or a mirror refuses a token. */
  readonly words: string | undefined;
}

type Fact<N> = N extends keyof Known ? Known[N] : string;

export type Facts<N extends readonly string[]> = {
  readonly [K in N[number]]: Fact<K>;
};

/** The facts in the order in which a throw gives them. */
export type Values<N extends readonly string[]> = {
  readonly [I in keyof N]: Fact<N[I]>;
};

type Text<F> = string | ((facts: F) => string | undefined);

export interface Texts<F> {
  /** Status of the HTTP response; the default 500 has texts for the operator alone. */
  readonly status?: number;
  /** The reason phrase of the response, without what only the operator may know. */
  readonly phrase?: Text<F>;
  /** The cause, with expected and got. */
  readonly sentence: Text<F>;
  /** In the imperative. */
  readonly remedy: Text<F>;
}

/** An error of one code; its texts may depend on the facts of a throw. */
export interface Row<N extends readonly string[]> extends Texts<Facts<N>> {
  readonly facts: N;
}

/** Declares which facts an error has beside its texts. */
export function row<const N extends readonly string[]>(
  facts: N,
  texts: Texts<Facts<N>>,
): Row<N> {
  return { facts, ...texts };
}
