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

const otherHost = "other.example.com";

let authority: Authority;
let other: Registry;

beforeAll(async () => {
  authority = await createAuthority();
  other = await startRegistry({ authority });
});
afterAll(() => other.stop());

function pathOf(
  { namespace, type, archives: [archive] }: Release,
  hostname = "registry.terraform.io",
): string {
  return `/providers/${hostname}/${namespace}/${type}/${archive?.filename}`;
}

/** An origin whose archives of `slow-…` come slowly, and a mirror whose places for it are all taken by them. */
async function fill(): Promise<{
  registry: Registry;
  mirror: RunningMirror;
  readonly leave: () => void;
}> {
  const registry = await startRegistry({ authority });
  const origins = {
    ...originsOf(authority, registry).origins,
    ...originsOf(authority, other, {}, otherHost).origins,
  };
  const mirror = await startMirror({ config: { origins } });
  afterAll(async () => {
    await mirror.kill();
    await registry.stop();
  });
  registry.script("archive", onlyFor(/slow-/, slow(rate)));
  const sockets: Socket[] = [];
  for (let n = 0; n < places; n++) {
    const release = await registry.publish({
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

describe("eight slow archives of one origin", () => {
  it("left by their clients make way for another", async () => {
    const { registry, mirror, leave } = await fill();
    leave();
    const release = await registry.publish({ type: "other", version: "1.0.0" });
    const answer = await mirror.get(pathOf(release));
    expect([answer.status, answer.complete]).toEqual([200, true]);
    expect(digest(answer.body)).toBe(sha256Of(release));
  });

  it("hold up no archive of another origin", async () => {
    const { mirror, leave } = await fill();
    const release = await other.publish({ type: "other", version: "1.0.0" });
    const answer = await mirror.get(pathOf(release, otherHost));
    expect([answer.status, answer.complete]).toEqual([200, true]);
    expect(digest(answer.body)).toBe(sha256Of(release));
    leave();
  });
});
