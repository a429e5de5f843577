import { expect } from "vitest";
import {
  ArchiveNotSigned,
  SignatureRefused,
  SignatureUndecided,
} from "../../src/errors/index.ts";
import {
  documentDigest,
  reconcile,
  type Offer,
} from "../../src/mirror/releases/continuity.ts";
import type { SignatureJudge } from "../../src/mirror/releases/verdict.ts";
import type { SignatureRefusalReason } from "../../src/verification/openpgp/signature.ts";
import { address as thing } from "./believed-releases.ts";
import {
  sketch as believe,
  judgeFor,
  type Sketch,
} from "./release-sketches.ts";

export const now = new Date("2026-03-01T00:00:00Z");
const name = "registry.terraform.io/acme/thing 1.0.0";

/** What the keys that the registry publishes now say of the first signature. */
export type Said =
  "the same keys" | "no keys" | "good" | "undecided" | SignatureRefusalReason;

export interface Case {
  readonly known?: Sketch;
  /** Digests that were seen first and that the known release does not have. */
  readonly first?: Pick<Sketch, "content">;
  /** Who signed it anew, if that key is known for nothing else. */
  readonly anewBy?: string;
  /** undefined: what is offered is refused. */
  readonly offered: Sketch | undefined;
  readonly said?: Said;
  /** Of an earlier question; none stands. */
  readonly fell?: string;
  readonly approved?: "this" | "another";
}

function judgeSaying(said: Said): SignatureJudge {
  if (said === "good") return judgeFor("K");
  const decide = (): ReturnType<SignatureJudge["decide"]> =>
    said === "undecided"
      ? Promise.reject(new SignatureUndecided(name, "too slow"))
      : Promise.resolve({
          accepted: false,
          reason: said as SignatureRefusalReason,
          detail: said,
        });
  return { library: "a table", decide };
}

/** Such as `first: none` or `offered: signed-anew, before K`; `fallen` where the first release is believed no more. */
export async function decideContinuity(row: Case): Promise<string> {
  const known = await believe({ by: "K", ...row.known });
  const { said = "the same keys", fell, anewBy } = row;
  const first = row.first && (await believe({ by: "K", ...row.first }));
  const keys =
    said === "no keys"
      ? undefined
      : said === "the same keys"
        ? known.proof.keys
        : ["other keys"];
  const believed =
    row.offered && (await believe({ by: "K", firstSeen: now, ...row.offered }));
  const offer: Offer = believed
    ? { release: believed }
    : { refused: new ArchiveNotSigned(name, "x.zip") };
  const approved =
    row.approved === "this" && believed ? documentDigest(believed) : "another";
  const { release, change, fallen } = await reconcile(
    thing,
    known,
    offer,
    keys,
    {
      judge: judgeSaying(said),
      now,
      standing: {
        isApproved: (digest) => digest === approved,
        fallen: fell === undefined ? undefined : fallenFor(fell),
        signedAnewBy: anewBy,
      },
      first: first?.checksums.sha256ByFilename ?? new Map(),
    },
  );
  expect(release.firstSeen).toEqual(known.firstSeen);
  const which = release.checksums === known.checksums ? "first" : "offered";
  if (change.kind === "replaced")
    expect(change).toEqual({
      kind: "replaced",
      offered: believed
        ? {
            digest: documentDigest(believed),
            signedBy: believed.checksums.signedBy,
          }
        : { refused: "archive-not-signed" },
    });
  const before =
    change.kind === "signed-anew" ? `, before ${change.before}` : "";
  const end = fallen === undefined ? "" : `, fallen: ${fallen.reason}`;
  return `${which}: ${change.kind}${before}${end}`;
}

function fallenFor(reason: string): SignatureRefused {
  return new SignatureRefused(name, reason, reason);
}
