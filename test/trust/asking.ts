import { settle } from "../../src/trust/settle.ts";
import type { ReleaseQuestion } from "../../src/trust/standing.ts";
import type { Evidence } from "../../src/trust/state.ts";
import type { pinned } from "./releases.ts";
import {
  content,
  day,
  E,
  evidence,
  K,
  later,
  namespace,
  question,
  start,
  unsigned,
} from "./releases.ts";

export const byE = (text: string) =>
  evidence({ signedBy: E, content: content(text) });

/**
 * Reads evidence as `E!:unknown linux=a; K#sums@4 linux=b`: its signer, `-` for none; `!` where the signature does not hold; what was
 * noted of it; its document; the day of its signature; and what it names.
 */
export function read(text: string): readonly Evidence[] {
  const pattern = /^([KE2-])(!?)(?::([a-z-]+))?(?:#(\S+?))?(?:@(\d+))?(?: |$)/;
  const parts = text.split("; ").filter((part) => part !== "");
  return parts.map((part) => {
    const [all = "", letter = "", bad, noted, sums, at] =
      pattern.exec(part) ?? [];
    const own = content(part.slice(all.length));
    const sha256sums = sums ?? [...own].join();
    const made = letter === "-" ? unsigned : evidence;
    return made({
      ...{ content: own, sha256sums, isGood: bad === "" },
      ...(letter === "-"
        ? { exemption: "signatures-off" }
        : { signedBy: letter.repeat(40) }),
      noted: noted as Evidence["noted"],
      id: `${sha256sums} by ${letter}`,
      ...(at !== undefined && { signedAt: later(Number(at) * day) }),
    });
  });
}

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

/** What people hear; `!` where an alarm is raised. */
export const kindsOf = ({ events }: ReturnType<typeof ask>) =>
  events.map((event) =>
    event.kind === "candidate"
      ? `candidate: ${event.reason}`
      : event.kind === "accepted"
        ? `accepted: ${event.because}${event.alarms ? "!" : ""}`
        : event.kind,
  );

/** Approvals of the contents of this evidence. */
export const approve = (...offered: string[]) => ({
  namespace: namespace({
    decisions: {
      keys: [],
      contents: offered.flatMap(read).map(({ sha256sums }) => ({
        ...{ type: "aws", version: "2.0.0", sha256sums },
        ...{ at: start.toISOString(), decision: "approved" },
      })),
    },
  }),
});
