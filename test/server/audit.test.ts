import { describe, expect, it } from "vitest";
import { alteredByte } from "../fakes/faults.ts";
import { createSigner } from "../fakes/signing.ts";
import type { Answer } from "../running-mirror.ts";
import { awaitLineOf } from "../scenes/log-lines.ts";
import {
  awaitAudit,
  countAlarms,
  outcomeOf,
  readAudit,
  requestsFor,
  type AuditLine,
} from "../scenes/provider-requests.ts";
import { openConnection } from "../scenes/raw-connection.ts";
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
const known = await createSigner({ name: "Known" });
const stranger = await createSigner({ name: "Stranger" });
const publish = (type: string, version = "1.0.0", options = {}) =>
  registry.publish({
    ...{ type, version, signer: known, size: 20_000, ...options },
  });
await publish("demo");
await publish("demo", "1.1.0");
await publish("denied");
await publish("young", "1.0.0", { signedAt: new Date(Date.now() - 60_000) });
await publish("held", "0.9.0");
await requestsFor(mirror, "held").index();
await publish("held", "1.0.0", { signer: stranger });
await publish("forged", "1.0.0", { signingKeys: [stranger] });

const provider = (type: string) => `registry.terraform.io/acme/${type}`;
const client = expect.stringMatching(/127\.0\.0\.1$/) as string;

/** The lines that one request left, by event, once there are so many of them. */
async function linesOf({ headers }: Answer, count: number, events = /./) {
  const id = headers["x-request-id"];
  const isOne = ({ event = "", requestId }: AuditLine) =>
    requestId === id && events.test(event);
  const lines = await awaitAudit(mirror, isOne, count);
  return lines.toSorted(({ event: a = "" }, { event: b = "" }) =>
    a.localeCompare(b),
  );
}

/** What came of the archives of a provider, with how often each came. */
async function deliveriesOf(type: string): Promise<readonly string[]> {
  const lines = await awaitAudit(
    mirror,
    ({ provider: of, event = "" }) =>
      of === provider(type) && /^(?:served|cut|refused)$/.test(event),
  );
  return lines.map(({ event, times }) => `${event} ${times}`);
}

describe("the audit log", () => {
  it("says who saw a release first, what it was, its key and that it was accepted", async () => {
    const answer = await requestsFor(mirror, "demo").version("1.0.0");
    const lines = await linesOf(answer, 2);
    const { fingerprint } = known;
    const asked = { client, provider: provider("demo"), fingerprint };
    const accepted = { ...asked, verdict: "accepted" };
    const detail = expect.stringMatching(/^SHA256SUMS [0-9a-f]{64}$/) as string;
    expect(lines).toMatchObject([
      { ...accepted, version: "1.0.0", event: "first-seen", detail },
      // First contact pins the newest release's key, for any request.
      {
        ...{ ...accepted, version: "1.1.0", event: "new-key" },
        rule: "trust: first-contact",
      },
    ]);
  });

  it.each([
    ["denied", "policy-denied", { rule: "policy.rules[0]" }],
    ["young", "too-young", { rule: "policy.rules[1].minimumAge" }],
    ["forged", "signature-refused", {}],
    [
      "held",
      "key-refused",
      { fingerprint: stranger.fingerprint, rule: "trust: unknown" },
    ],
  ])(
    "says who was refused %s, by which rule, each time",
    async (type, reason, facts) => {
      const ask = requestsFor(mirror, type);
      for (const way of ["version", "version", "archive"] as const) {
        const answer = await ask[way]("1.0.0");
        expect(outcomeOf(answer)).toBe(`451 ${reason}`);
        expect(await linesOf(answer, 1, /^refused$/)).toMatchObject([
          {
            ...{ verdict: "refused", client, provider: provider(type) },
            ...{ version: "1.0.0", reason, ...facts },
          },
        ]);
      }
    },
  );

  it("has both digests of an archive that is not the one that was signed, with an alarm", async () => {
    const first = await publish("twice");
    const alarms = await countAlarms(mirror, "archive-tampered");
    const ask = requestsFor(mirror, "twice");
    expect(await ask.outcome("1.0.0")).toBe("200");
    const second = await registry.republish(first);
    const answer = await ask.archive("1.0.0");
    expect(outcomeOf(answer)).toBe("451 checksum-conflict");
    const [refused] = await linesOf(answer, 1, /^refused$/);
    expect(refused?.sha256).toBe(second.archive("linux_amd64").sha256);
    expect(refused?.detail).toContain(first.archive("linux_amd64").sha256);
    expect(await countAlarms(mirror, "archive-tampered")).toBe(alarms + 1);
    // As often as it was refused above.
    expect(await countAlarms(mirror, "signature-refused")).toBe(1);
  });
});

describe("the audit log of archives", () => {
  const size = 8_000_000;

  it("says served once all of it was, and nothing for HEAD and what the client holds", async () => {
    await publish("whole", "1.0.0", { size });
    const { archive } = requestsFor(mirror, "whole");
    const { complete, headers: sent } = await archive("1.0.0");
    expect(complete).toBe(true);
    expect(await deliveriesOf("whole")).toEqual(["served 1"]);
    const isServed = ({ event }: AuditLine) => event === "served";
    expect(readAudit(mirror).filter(isServed)).toMatchObject([
      {
        ...{ client, verdict: "accepted", provider: provider("whole") },
        ...{ version: "1.0.0", platform: "linux_amd64" },
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      },
    ]);
    await archive("1.0.0", { method: "HEAD" });
    const headers = { "if-none-match": String(sent.etag) };
    expect((await archive("1.0.0", { headers })).status).toBe(304);
    expect(await deliveriesOf("whole")).toEqual(["served 1"]);
  });

  it("says cut when the client leaves", async () => {
    await publish("cut", "1.0.0", { size });
    const path = `/providers/${provider("cut")}/terraform-provider-cut_1.0.0_linux_amd64.zip`;
    const socket = await openConnection(mirror);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    expect(await deliveriesOf("cut")).toEqual(["cut 1"]);
  });

  it("never says served of a tampered one, and raises the alarm", async () => {
    await publish("tampered", "1.0.0", { size });
    const before = await countAlarms(mirror, "archive-tampered");
    registry.script("archive", alteredByte(1000));
    const answer = await requestsFor(mirror, "tampered").archive("1.0.0");
    registry.heal();
    await awaitLineOf(mirror, answer);
    expect(answer.status === 451 || !answer.complete).toBe(true);
    const events = await deliveriesOf("tampered");
    expect(events).toContain("refused 1");
    expect(events.join(" ")).not.toContain("served");
    expect(await countAlarms(mirror, "archive-tampered")).toBe(before + 1);
  });
});
