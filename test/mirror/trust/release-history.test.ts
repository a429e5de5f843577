import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SignatureRefused } from "../../../src/errors/index.ts";
import {
  documentDigest,
  type Continuity,
} from "../../../src/mirror/releases/continuity.ts";
import {
  awaitsReplacement,
  standingOf,
} from "../../../src/mirror/trust/release-history.ts";
import type { ReleaseRequest } from "../../../src/mirror/trust/request.ts";
import { believe } from "../../scenes/believed-releases.ts";
import { list, since } from "../../scenes/key-questions.ts";
import { makeTrust } from "../../scenes/trust-parts.ts";

const byK = await believe({ signedBy: "K" });
const byL = await believe({ signedBy: "L" });
const other = await believe({ archives: { linux_amd64: "b" }, signedBy: "L" });
const offered = documentDigest(other);
const fallen = new SignatureRefused("it", "revoked", "its key was revoked");

let trust: Awaited<ReturnType<typeof makeTrust>>;
let request: ReleaseRequest;

beforeEach(async () => {
  trust = await makeTrust();
  request = await trust.ask("1.0.0");
});
afterEach(() => trust.close());

const replaced: Continuity = {
  release: byK,
  change: { kind: "replaced", offered: { digest: offered, signedBy: "L" } },
};
const same: Continuity = { release: byK, change: { kind: "none" } };

const note = (continuity: Continuity, known: typeof byK | undefined = byK) =>
  trust.history.note(request, known, continuity);
const seen = () => request.entry.trust.seen;

describe("what happens to a release is written down:", () => {
  it("that it is seen first, and nothing when it is as it was", async () => {
    await trust.history.note(request, undefined, same);
    await note(same);
    expect(trust.told()).toEqual({
      audit: ["first-seen accepted"],
      alarms: [],
    });
  });

  it("that other content is offered, once for each, until the first is offered again", async () => {
    await note(replaced);
    await note(replaced);
    expect(seen().replaced).toMatchObject([{ offered, fingerprint: "L" }]);
    expect(trust.told()).toEqual({
      audit: ["replaced refused"],
      alarms: ["release-replaced"],
    });
    await note({
      ...replaced,
      change: { kind: "replaced", offered: { refused: "limits" } },
    });
    expect(seen().replaced).toMatchObject([
      { offered: "limits", fingerprint: null },
    ]);
    await note(same);
    expect(seen().replaced).toEqual([]);
  });

  it("that the same is offered under another key, which needs a word of its own", async () => {
    await note(replaced);
    for (const signedBy of ["M", undefined, undefined])
      await note({
        ...replaced,
        change: { kind: "replaced", offered: { digest: offered, signedBy } },
      });
    expect(seen().replaced).toMatchObject([{ offered, fingerprint: null }]);
    const told = "replaced refused";
    expect(trust.told().audit).toEqual([told, told, told]);
  });

  it("that other content takes its place by an operator's word", async () => {
    await note(replaced);
    await note({ release: other, change: { kind: "approved" } });
    expect(seen().replaced).toEqual([]);
    expect(trust.told().audit.at(-1)).toBe("replaced accepted");
  });

  it("that it came by an operator's word where only its digests were known, and not as seen first", async () => {
    const approved = { release: other, change: { kind: "approved" } } as const;
    await trust.history.note(request, undefined, approved);
    expect(trust.told().audit).toEqual(["replaced accepted"]);
  });

  it("that it fell, once, and that it stands again", async () => {
    await note({ ...same, fallen });
    await note({ ...same, fallen });
    expect(seen().fallen).toMatchObject([
      { version: "1.0.0", reason: "revoked" },
    ]);
    expect(trust.told().audit).toEqual(["judged-again refused"]);
    await note(same);
    expect(seen().fallen).toEqual([]);
  });

  it("that it stays fallen where other content contradicts what was seen first of it", async () => {
    await note({ ...same, fallen });
    const first = byK.checksums.sha256ByFilename;
    const found = await trust.history.noteContradiction(request, other, first);
    expect(found).toBeDefined();
    expect(seen()).toMatchObject({
      replaced: [{ offered, fingerprint: "L" }],
      fallen: [{ version: "1.0.0", reason: "revoked" }],
    });
  });

  it("that another release of its provider fell says nothing of it", async () => {
    await note({ ...same, fallen });
    await trust.history.note(await trust.ask("2.0.0"), byK, same);
    expect(seen().fallen).toHaveLength(1);
  });

  it("that it was signed anew, and whether the key before was believed and is not revoked", async () => {
    const change = { kind: "signed-anew", before: "K" } as const;
    await note({ release: byL, change });
    expect(seen().resigned).toMatchObject([
      { fingerprint: "L", unvouched: true },
    ]);
    expect(trust.told().audit).toEqual([]);
    await trust.admission.teach(request, byK, list);
    await note({ release: byL, change });
    const [entry, ...others] = seen().resigned;
    expect([entry?.fingerprint, entry?.unvouched, others]).toEqual([
      "L",
      undefined,
      [],
    ]);
    expect(trust.told().audit.at(-1)).toBe("judged-again accepted");
    await trust.ledger.decide(request.provider, ({ releases }) => ({
      keys: [{ fingerprint: "K", decision: "revoked", type: null, at: since }],
      releases,
    }));
    const next = await believe({ signedBy: "M" });
    await note({ release: next, change });
    expect(seen().resigned).toMatchObject([
      { fingerprint: next.checksums.signedBy, unvouched: true },
    ]);
  });
});

describe("what was decided on a release", () => {
  const approve = () =>
    trust.ledger.decide(request.provider, ({ keys }) => ({
      keys,
      releases: [
        {
          type: "thing",
          version: "1.0.0",
          offered,
          fingerprint: "L",
          at: since,
        },
      ],
    }));

  it("is that exactly what was approved may take its place", async () => {
    expect(
      standingOf(request.entry.trust, request.address).isApproved(offered, "L"),
    ).toBe(false);
    await approve();
    const { isApproved } = standingOf(request.entry.trust, request.address);
    expect([
      isApproved(offered, "L"),
      isApproved(offered, "K"),
      isApproved(documentDigest(byK), "L"),
    ]).toEqual([true, false, false]);
  });

  it("is waited for between an approval and the arrival of what was approved", async () => {
    const isAwaited = () =>
      awaitsReplacement(request.entry.trust, request.address);
    await approve();
    expect(isAwaited()).toBe(false);
    await note(replaced);
    expect(isAwaited()).toBe(true);
    await note({ release: other, change: { kind: "approved" } });
    expect(isAwaited()).toBe(false);
  });

  it("is who signed it anew, as long as that key is known for nothing else", async () => {
    const signedAnewBy = () =>
      standingOf(request.entry.trust, request.address).signedAnewBy;
    const change = { kind: "signed-anew", before: "K" } as const;
    await trust.admission.teach(request, byK, list);
    expect(signedAnewBy()).toBeUndefined();
    await note({ release: byL, change });
    expect(signedAnewBy()).toBe("L");
    await trust.ledger.decide(request.provider, ({ releases }) => ({
      keys: [{ fingerprint: "L", decision: "approved", type: null, at: since }],
      releases,
    }));
    expect(signedAnewBy()).toBeUndefined();
  });

  it("is that a release which fell is refused for the same reason again", async () => {
    expect(
      standingOf(request.entry.trust, request.address).fallen,
    ).toBeUndefined();
    await note({ ...same, fallen });
    expect(
      standingOf(request.entry.trust, request.address).fallen,
    ).toMatchObject({
      reason: "revoked",
    });
  });
});
