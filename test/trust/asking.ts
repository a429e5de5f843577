import { settle } from "../../src/trust/settle.ts";
import type { ReleaseQuestion } from "../../src/trust/standing.ts";
import type { Evidence } from "../../src/trust/state.ts";
import type { pinned } from "./releases.ts";
import {
  content,
  E,
  evidence,
  K,
  namespace,
  question,
  start,
} from "./releases.ts";

export const byE = (text: string) =>
  evidence({ signedBy: E, content: content(text) });

export function ask(
  known: readonly Evidence[],
  with_: Partial<ReleaseQuestion> & {
    pinned?: ReturnType<typeof pinned>;
    published?: readonly string[];
  } = {},
) {
  const { pinned: first, published = [K], ...rest } = with_;
  const release = {
    pinned: first,
    evidence: known,
    published: new Set(published),
  };
  return settle(question({ release, ...rest }));
}

/** Tells `served linux=a by K`, or `refused: reason`. */
export function tell({ standing }: ReturnType<typeof ask>): string {
  if (standing.kind !== "served")
    return standing.kind === "empty" ? "empty" : `refused: ${standing.because}`;
  const packages = [...standing.packages].map(
    ([platform, { sha256, evidence: own }]) =>
      `${platform}=${sha256[0]} by ${own.signedBy?.[0] ?? "none"}`,
  );
  return `served ${packages.toSorted().join(", ")}`;
}

export const kindsOf = ({ events }: ReturnType<typeof ask>) =>
  events.map((event) =>
    event.kind === "candidate"
      ? `candidate: ${event.reason}`
      : event.kind === "accepted"
        ? `accepted: ${event.because}`
        : event.kind,
  );

export const approve = (...sha256sums: string[]) => ({
  namespace: namespace({
    decisions: {
      keys: [],
      contents: sha256sums.map((one) => ({
        ...{ type: "aws", version: "2.0.0", sha256sums: one },
        ...{ at: start.toISOString(), decision: "approved" },
      })),
    },
  }),
});
