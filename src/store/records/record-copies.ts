import { recordPaths, type RecordKey, type StoreLayout } from "../layout.ts";
import {
  readRecordFile,
  replaceRecordFile,
  type FileState,
} from "./record-file.ts";
import type { ReadBody } from "./record-store.ts";
import type { Sealed } from "./seal.ts";

/** One of the files that a record is kept in. */
export interface Copy {
  readonly path: string;
  readonly state: FileState;
}

/** Content that all copies together give. */
export type Settled =
  | { readonly kind: "absent" }
  | { readonly kind: "good"; readonly sealed: Sealed }
  | { readonly kind: "bad"; readonly problem: string };

export function readCopies(
  key: RecordKey,
  paths: readonly string[],
): Promise<readonly Copy[]> {
  return Promise.all(
    paths.map(async (path) => ({
      path,
      state: await readRecordFile(key, path),
    })),
  );
}

/** The newest good copy counts. A record is absent only when nothing at all is there. */
export function settle(copies: readonly Copy[]): Settled {
  const good = copies.flatMap(({ state }) =>
    state.kind === "good" ? [state.sealed] : [],
  );
  const [newest, ...others] = good.toSorted((a, b) => b.revision - a.revision);
  if (newest !== undefined)
    return others.some((other) => contradicts(newest, other))
      ? { kind: "bad", problem: "its two copies contradict one another" }
      : { kind: "good", sealed: newest };
  const [bad] = copies.flatMap(({ state }) =>
    state.kind === "bad" ? [state] : [],
  );
  return bad ?? { kind: "absent" };
}

export async function readSettled(
  layout: StoreLayout,
  key: RecordKey,
): Promise<Settled> {
  return settle(await readCopies(key, recordPaths(layout, key)));
}

/**
 * Parses the body of the copies. Without a valid one, `passOver` gets the
 * reason, and throws if that matters.
 */
export function openSettled<T>(
  found: Settled,
  readBody: ReadBody<T>,
  passOver: (problem: string, cause?: unknown) => void,
): T | undefined {
  if (found.kind === "absent") return undefined;
  if (found.kind === "bad") {
    passOver(found.problem);
    return undefined;
  }
  try {
    return readBody(JSON.parse(found.sealed.body));
  } catch (error) {
    passOver("it is not in the form of its kind", error);
    return undefined;
  }
}

/** Replaces every copy; all are tried before the first failure is thrown. */
export async function replaceCopies(
  layout: StoreLayout,
  key: RecordKey,
  sealed: Sealed,
): Promise<void> {
  const written = await Promise.allSettled(
    recordPaths(layout, key).map((path) =>
      replaceRecordFile(layout, key, path, sealed),
    ),
  );
  for (const one of written) if (one.status === "rejected") throw one.reason;
}

export function copiesToHeal(
  copies: readonly Copy[],
  { revision }: Sealed,
): readonly Copy[] {
  return copies.filter(
    ({ state }) => state.kind !== "good" || state.sealed.revision !== revision,
  );
}

function contradicts(one: Sealed, other: Sealed): boolean {
  return one.revision === other.revision && one.body !== other.body;
}
