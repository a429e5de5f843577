import { afterEach, describe, expect, it } from "vitest";
import {
  KeyRefused,
  OriginTimedOut,
  PolicyDenied,
  SignatureRefused,
  TooYoung,
} from "../../../src/errors/index.ts";
import { parseProviderPattern } from "../../../src/address/policy-pattern.ts";
import type { AdmissionRules } from "../../../src/mirror/trust/admission-rules.ts";
import { parsePolicy } from "../../../src/mirror/trust/policy.ts";
import { believe } from "../../scenes/believed-releases.ts";
import { list, since } from "../../scenes/key-questions.ts";
import { makeTrust } from "../../scenes/trust-parts.ts";

const byK = await believe({ signedBy: "K" });
const byL = await believe({ signedBy: "L" });
const byNobody = await believe({});
const other = await believe({ archives: { linux_amd64: "b" }, signedBy: "L" });

type Trust = Awaited<ReturnType<typeof makeTrust>>;
let trust: Trust;

afterEach(() => trust.close());

async function start(changes: Partial<AdmissionRules> = {}): Promise<Trust> {
  trust = await makeTrust(changes);
  return trust;
}

const seen = async () => (await trust.ask("1.0.0")).entry.trust.seen;
const scopes = async () =>
  (await seen()).keys.map(
    ({ fingerprint, scope }) => `${fingerprint} ${scope}`,
  );

/** Teaches of the provider that K signs it. */
async function teachK(): Promise<void> {
  const request = await trust.ask("1.0.0");
  expect(await trust.admission.teach(request, byK, list)).toBe(true);
}

describe("first contact", () => {
  it("teaches its namespace a key that is the first, once and without an alarm", async () => {
    await start();
    await teachK();
    await teachK();
    expect(await scopes()).toEqual(["K namespace"]);
    expect((await seen()).lessons).toHaveLength(1);
    expect(trust.told()).toEqual({ audit: ["new-key accepted"], alarms: [] });
  });

  it("with another provider teaches a new key for that provider alone, with an alarm", async () => {
    await start();
    await teachK();
    const request = await trust.ask("1.0.0", "other");
    expect(await trust.admission.teach(request, byL, list)).toBe(true);
    expect(await scopes()).toEqual(["K namespace", "L provider"]);
    expect(trust.told().alarms).toEqual(["key-new"]);
  });

  it("with another provider under the known key teaches no key", async () => {
    await start();
    await teachK();
    const request = await trust.ask("1.0.0", "other");
    expect(await trust.admission.teach(request, byK, list)).toBe(true);
    expect(await scopes()).toEqual(["K namespace"]);
    expect((await seen()).lessons).toHaveLength(2);
    expect(trust.told().alarms).toEqual([]);
  });

  it("with a provider that nobody signs raises an alarm where others are signed", async () => {
    await start();
    await trust.admission.teach(await trust.ask("1.0.0"), byNobody, list);
    expect(trust.told().alarms).toEqual([]);
    await trust.admission.teach(await trust.ask("1.0.0", "a"), byK, list);
    const unsigned = await trust.ask("1.0.0", "b");
    await trust.admission.teach(unsigned, byNobody, list);
    expect(trust.told().alarms).toEqual(["key-new", "key-new"]);
  });

  it("is not made with a release whose key is not acceptable, or that fell", async () => {
    const pattern = parseProviderPattern("registry.terraform.io/acme/*");
    await start({ pins: [{ pattern, fingerprints: ["L"] }] });
    const request = await trust.ask("1.0.0");
    expect(await trust.admission.teach(request, byK, list)).toBe(false);
    await request.entry.noteSeen((before) => ({
      ...before,
      fallen: [{ type: "thing", version: "1.0.0", reason: "revoked", since }],
    }));
    expect(await trust.admission.teach(request, byL, list)).toBe(false);
    expect((await seen()).lessons).toEqual([]);
  });
});

describe("a release", () => {
  it("under a key of its provider needs no note", async () => {
    await start();
    await teachK();
    await trust.admission.admitKey(await trust.ask("2.0.0"), byK, list);
    expect(trust.told().audit).toEqual(["new-key accepted"]);
  });

  it("of the first list is believed for itself under any key, which is noted once", async () => {
    await start();
    await teachK();
    for (let time = 0; time < 2; time++)
      await trust.admission.admitKey(await trust.ask("1.0.0"), byL, list);
    expect(await scopes()).toEqual(["K namespace", "L release"]);
    expect(trust.told().audit).toHaveLength(2);
    expect(trust.told().alarms).toEqual([]);
  });

  it("under a pinned key is believed for itself, and teaches nothing of what comes without the pin", async () => {
    const pattern = parseProviderPattern("registry.terraform.io/acme/*");
    await start({ pins: [{ pattern, fingerprints: ["K"] }] });
    await trust.admission.admitKey(await trust.ask("2.0.0"), byK, list);
    expect(await scopes()).toEqual(["K release"]);
  });

  it("that is the first of a namespace without a list makes its key known for its provider", async () => {
    await start();
    const request = await trust.ask("2.0.0");
    await trust.admission.admitKey(request, byK, undefined);
    expect(await scopes()).toEqual(["K provider"]);
    expect(trust.told().alarms).toEqual(["key-new"]);
  });

  it("that is later is held back under an unknown key, with a note, a line and an alarm for each content", async () => {
    await start();
    await teachK();
    for (const offered of [byL, byL, other]) {
      const admitted = trust.admission.admitKey(
        await trust.ask("2.0.0"),
        offered,
        list,
      );
      await expect(admitted).rejects.toThrow(KeyRefused);
    }
    expect((await seen()).quarantined).toMatchObject([
      { version: "2.0.0", fingerprint: "L", reason: "unknown" },
    ]);
    expect(trust.told().audit.slice(1)).toEqual([
      "quarantined refused",
      "quarantined refused",
    ]);
    expect(trust.told().alarms).toContain("key-refused");
  });

  it("that was held back is so no more once its key is known", async () => {
    await start();
    await teachK();
    const request = await trust.ask("2.0.0");
    await expect(trust.admission.admitKey(request, byL, list)).rejects.toThrow(
      KeyRefused,
    );
    await trust.ledger.decide(request.provider, ({ releases }) => ({
      keys: [{ fingerprint: "L", decision: "approved", type: null, at: since }],
      releases,
    }));
    await trust.admission.admitKey(await trust.ask("2.0.0"), byL, list);
    expect((await seen()).quarantined).toEqual([]);
  });

  it("is undecided while first contact could not teach its key, unless that could not help", async () => {
    await start();
    await teachK();
    const untaught = new OriginTimedOut("acme/thing", "its newest release");
    const later = await trust.ask("2.0.0");
    await expect(
      trust.admission.admitKey(later, byL, list, untaught),
    ).rejects.toBe(untaught);
    expect((await seen()).quarantined).toEqual([]);
    await trust.admission.admitKey(later, byK, list, untaught);
    await trust.ledger.decide(later.provider, ({ releases }) => ({
      keys: [{ fingerprint: "L", decision: "revoked", type: null, at: since }],
      releases,
    }));
    await expect(
      trust.admission.admitKey(later, byL, list, untaught),
    ).rejects.toThrow(KeyRefused);
  });

  it("that fell is refused under whatever key", async () => {
    await start();
    await teachK();
    const request = await trust.ask("1.0.0");
    await request.entry.noteSeen((before) => ({
      ...before,
      fallen: [{ type: "thing", version: "1.0.0", reason: "revoked", since }],
    }));
    await expect(
      trust.admission.admitRelease(request, byK, list),
    ).rejects.toThrow(SignatureRefused);
  });

  it("that the rules deny is refused before anything is read", async () => {
    await start({
      policy: parsePolicy({ default: "deny", minimumAge: 0, rules: [] }),
    });
    await expect(trust.ask("1.0.0")).rejects.toThrow(PolicyDenied);
  });
});

describe("the age of a release", () => {
  const minute = 60_000;
  const policy = parsePolicy({
    default: "allow",
    minimumAge: minute,
    rules: [],
  });

  it.each([
    ["that was listed and signed long ago is enough", false, list, true],
    ["that no list shows is unknown", false, undefined, false],
    [
      "that no list can ever show is that of its signature",
      true,
      undefined,
      true,
    ],
  ])("%s", async (_, offline, of, isOld) => {
    await start({ policy, offline });
    const request = await trust.ask("1.0.0");
    expect(trust.admission.decideAge(request, byK, of).old).toBe(isOld);
    const admitted = trust.admission.admitRelease(request, byK, of);
    if (isOld) await expect(admitted).resolves.toBeUndefined();
    else await expect(admitted).rejects.toThrow(TooYoung);
  });

  it("counts from when it appeared, to the moment", async () => {
    await start({ policy });
    const request = await trust.ask("2.0.0");
    const [entry] = [...list.versions.values()].slice(1);
    if (entry === undefined) throw new Error("none");
    const appeared = trust.clock.now();
    const fresh = {
      ...list,
      versions: new Map([[entry.version, { ...entry, appeared }]]),
    };
    trust.clock.pass(minute - 1);
    expect(trust.admission.decideAge(request, byK, fresh)).toEqual({
      old: false,
      availableAt: new Date(appeared.getTime() + minute),
    });
    trust.clock.pass(1);
    expect(trust.admission.decideAge(request, byK, fresh).old).toBe(true);
  });
});
