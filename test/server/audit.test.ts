import { describe, expect, it } from "vitest";
import { createSigner } from "../fakes/signing.ts";
import type { Answer } from "../running-mirror.ts";
import {
  awaitAudit,
  outcomeOf,
  requestsFor,
  type AuditLine,
} from "../scenes/provider-requests.ts";
import { startWorld } from "../scenes/world.ts";

const { registry, mirror } = await startWorld({
  freshness: { versions: "0" },
  policy: {
    rules: [
      { match: "*/acme/denied", action: "deny" },
      { match: "*/acme/young", action: "allow", minimumAge: "7d" },
    ],
  },
});
const [known, stranger] = [
  await createSigner({ name: "Known" }),
  await createSigner({ name: "Stranger" }),
];
const publish = (type: string, version: string, options = {}) =>
  registry.publish({
    type,
    version,
    signer: known,
    size: 20_000,
    ...options,
  });
await publish("demo", "1.0.0");
await publish("demo", "1.1.0");
await publish("denied", "1.0.0");
await publish("young", "1.0.0", { signedAt: new Date(Date.now() - 60_000) });
await publish("forged", "1.0.0", { signingKeys: [stranger] });

/** The lines that one request left, once there are so many. */
function linesOf(answer: Answer, count: number): Promise<readonly AuditLine[]> {
  const id = answer.headers["x-request-id"];
  return awaitAudit(mirror, ({ requestId }) => requestId === id, count);
}

/** The one of its refusal. */
async function refusalOf(answer: Answer): Promise<AuditLine | undefined> {
  const id = answer.headers["x-request-id"];
  const [line] = await awaitAudit(
    mirror,
    ({ event, requestId }) => event === "refused" && requestId === id,
  );
  return line;
}

const provider = (type: string) => `registry.terraform.io/acme/${type}`;

describe("the audit log", () => {
  it("says who saw a release first, what it was, its key and that it was accepted", async () => {
    const answer = await requestsFor(mirror, "demo").version("1.0.0");
    expect(answer.status).toBe(200);
    const lines = await linesOf(answer, 2);
    const asked = {
      client: expect.stringMatching(/127\.0\.0\.1$/) as string,
      provider: provider("demo"),
      version: "1.0.0",
      verdict: "accepted",
      fingerprint: known.fingerprint,
    };
    const detail = expect.stringMatching(/^SHA256SUMS [0-9a-f]{64}$/) as string;
    expect(lines).toHaveLength(2);
    expect(lines).toContainEqual(
      expect.objectContaining({ ...asked, event: "first-seen", detail }),
    );
    // First contact pins the newest release's key, for any request.
    const newest = { ...asked, version: "1.1.0" };
    const rule = "trust: first-contact";
    expect(lines).toContainEqual(
      expect.objectContaining({ ...newest, event: "new-key", rule }),
    );
    for (const { at } of lines)
      expect(Date.parse(at ?? "")).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    ["denied", "policy-denied", { rule: "policy.rules[0]" }],
    ["young", "too-young", { rule: "policy.rules[1].minimumAge" }],
    ["forged", "signature-refused", {}],
  ])(
    "says who was refused %s, by which rule, each time",
    async (type, reason, facts) => {
      for (let round = 0; round < 2; round++) {
        const answer = await requestsFor(mirror, type).version("1.0.0");
        expect(outcomeOf(answer)).toBe(`451 ${reason}`);
        expect(await refusalOf(answer)).toMatchObject({
          event: "refused",
          verdict: "refused",
          client: expect.stringMatching(/127\.0\.0\.1$/) as string,
          provider: provider(type),
          version: "1.0.0",
          reason,
          ...facts,
        });
      }
      const index = await requestsFor(mirror, type).archive("1.0.0");
      expect(await refusalOf(index)).toMatchObject({
        event: "refused",
        provider: provider(type),
        reason,
      });
    },
  );

  it("says which key a release was held back for, once as such and each time as a refusal", async () => {
    const ask = requestsFor(mirror, "demo");
    await registry.publish({
      type: "demo",
      version: "2.0.0",
      signer: stranger,
    });
    const answers = [await ask.version("2.0.0"), await ask.version("2.0.0")];
    const facts = {
      provider: provider("demo"),
      version: "2.0.0",
      verdict: "refused",
      fingerprint: stranger.fingerprint,
      rule: "trust: unknown",
    };
    const [first, second] = answers;
    const lines = [
      ...(first === undefined ? [] : await linesOf(first, 2)),
      ...(second === undefined ? [] : await linesOf(second, 1)),
    ];
    expect(lines.filter(({ event }) => event === "quarantined")).toMatchObject([
      facts,
    ]);
    expect(lines.filter(({ event }) => event === "refused")).toMatchObject([
      { ...facts, reason: "key-refused" },
      { ...facts, reason: "key-refused" },
    ]);
  });

  it("has both digests of an archive that is not the one that was signed", async () => {
    const first = await registry.publish({ type: "twice", version: "1.0.0" });
    const ask = requestsFor(mirror, "twice");
    expect(await ask.outcome("1.0.0")).toBe("200");
    const second = await registry.republish(first);
    const answer = await ask.archive("1.0.0");
    expect(outcomeOf(answer)).toBe("451 checksum-conflict");
    const { sha256 } = second.archive("linux_amd64");
    const refused = await refusalOf(answer);
    expect(refused).toMatchObject({ sha256 });
    expect(refused?.detail).toContain(first.archive("linux_amd64").sha256);
  });
});
