import { expect, it } from "vitest";
import { alteredByte } from "../../fakes/faults.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import {
  awaitAudit,
  countAlarms,
  readAudit,
  requestsFor,
} from "../../scenes/provider-requests.ts";
import { openConnection } from "../../scenes/raw-connection.ts";
import { startWorld } from "../../scenes/world.ts";

const size = 8_000_000;
const base = "/providers/registry.terraform.io/acme/";

const { registry, mirror } = await startWorld({
  policy: { rules: [{ match: "*/acme/denied", action: "deny" }] },
});
for (const type of ["demo", "cut", "tampered", "denied"])
  await registry.publish({ type, version: "1.0.0", size });

const archiveOf = (type: string) =>
  `${base}${type}/terraform-provider-${type}_1.0.0_linux_amd64.zip`;

/** Waits for an archive's events, and returns them with how often each came. */
async function eventsOf(type: string): Promise<readonly string[]> {
  const lines = await awaitAudit(
    mirror,
    ({ provider, event = "" }) =>
      provider?.endsWith(`/${type}`) === true &&
      ["served", "cut", "refused"].includes(event),
  );
  return lines.map(({ event, times }) => `${event} ${times}`);
}

it("says served once all of it was", async () => {
  const answer = await requestsFor(mirror, "demo").archive("1.0.0");
  expect(answer.complete).toBe(true);
  expect(await eventsOf("demo")).toEqual(["served 1"]);
  const [served] = readAudit(mirror).filter(({ event }) => event === "served");
  expect(served).toMatchObject({
    client: expect.stringMatching(/127\.0\.0\.1$/) as string,
    verdict: "accepted",
    provider: "registry.terraform.io/acme/demo",
    version: "1.0.0",
    platform: "linux_amd64",
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
});

it("says cut when the client leaves", async () => {
  const socket = await openConnection(mirror);
  socket.write(`GET ${archiveOf("cut")} HTTP/1.1\r\nHost: a\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  socket.destroy();
  expect(await eventsOf("cut")).toEqual(["cut 1"]);
});

it("never says served of a tampered archive, and raises the alarm", async () => {
  registry.script("archive", alteredByte(1000));
  const answer = await requestsFor(mirror, "tampered").archive("1.0.0");
  registry.heal();
  await awaitLineOf(mirror, answer);
  expect(answer.status === 451 || !answer.complete).toBe(true);
  const events = await eventsOf("tampered");
  expect(events).toContain("refused 1");
  expect(events.join(" ")).not.toContain("served");
  expect(await countAlarms(mirror, "archive-tampered")).toBe(1);
});

it("says nothing of served for a refusal, HEAD and what the client holds", async () => {
  await requestsFor(mirror, "denied").archive("1.0.0");
  expect(await eventsOf("denied")).toEqual(["refused 1"]);
  const etag = String(
    (await mirror.get(archiveOf("demo"), { method: "HEAD" })).headers.etag,
  );
  const headers = { "if-none-match": etag };
  expect((await mirror.get(archiveOf("demo"), { headers })).status).toBe(304);
  expect(await eventsOf("demo")).toEqual(["served 1"]);
});
