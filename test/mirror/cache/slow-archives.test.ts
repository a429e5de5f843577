import { once } from "node:events";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { onlyFor, slow } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import type { Release } from "../../fakes/release.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { digest, sha256Of } from "../../scenes/failing-origin.ts";
import { openConnection } from "../../scenes/raw-connection.ts";

const places = 8;
/** Size of a slow archive: over a minute's worth, and too large to hold back whole. */
const size = 9 * 1024 * 1024;
/** Faster than the least rate. */
const rate = 80_000;

let authority: Authority;

beforeAll(async () => {
  authority = await createAuthority();
});

function pathOf({ namespace, type, archives: [archive] }: Release): string {
  return `/providers/registry.terraform.io/${namespace}/${type}/${archive?.filename}`;
}

/** An origin whose archives of `slow-…` come slowly, and a mirror whose places for it are all taken by them. */
async function fill(
  namespaceOf: (index: number) => string,
): Promise<{ registry: Registry; mirror: RunningMirror; leave(): void }> {
  const registry = await startRegistry({ authority });
  const mirror = await startMirror({ config: originsOf(authority, registry) });
  afterAll(async () => {
    await mirror.kill();
    await registry.stop();
  });
  registry.script("archive", onlyFor(/slow-/, slow(rate)));
  const sockets: Socket[] = [];
  for (let n = 0; n < places; n++) {
    const release = await registry.publish({
      namespace: namespaceOf(n),
      type: `slow-${n}`,
      version: "1.0.0",
      size,
    });
    const socket = await openConnection(mirror);
    socket.on("error", () => undefined);
    socket.write(`GET ${pathOf(release)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, "data");
    sockets.push(socket.resume());
  }
  const leave = () => sockets.forEach((socket) => socket.destroy());
  return { registry, mirror, leave };
}

async function takeAnother(
  { registry, mirror }: Awaited<ReturnType<typeof fill>>,
  namespace: string,
): Promise<number> {
  const type = "other";
  const release = await registry.publish({ namespace, type, version: "1.0.0" });
  const start = performance.now();
  const answer = await mirror.get(pathOf(release));
  expect([answer.status, answer.complete]).toEqual([200, true]);
  expect(digest(answer.body)).toBe(sha256Of(release));
  return performance.now() - start;
}

describe.concurrent("eight slow archives of one origin", () => {
  const crowds: readonly [string, (n: number) => string, string, boolean][] = [
    ["of another namespace, left by their clients", () => "slow", "acme", true],
    [
      "of the same namespace, left by their clients",
      () => "acme",
      "acme",
      true,
    ],
    [
      "of eight namespaces, left by their clients",
      (n) => `ns-${n}`,
      "acme",
      true,
    ],
    ["of another namespace, read by clients", () => "slow", "acme", false],
    ["of eight namespaces, read by clients", (n) => `ns-${n}`, "acme", false],
  ];

  it.each(crowds)(
    "%s, do not keep another from coming",
    { timeout: 60_000 },
    async (_, namespaceOf, namespace, areLeft) => {
      const scene = await fill(namespaceOf);
      if (areLeft) scene.leave();
      const ms = await takeAnother(scene, namespace);
      expect(ms).toBeLessThan(areLeft ? 10_000 : 20_000);
      scene.leave();
    },
  );
});
