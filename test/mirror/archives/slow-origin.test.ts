import {
  afterAll,
  afterEach,
  beforeAll,
  describe,
  expect,
  it,
  onTestFinished,
} from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { barrier } from "../../fakes/barrier.ts";
import { hang, onlyFor } from "../../fakes/faults.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import { awaitHit } from "../../scenes/log-lines.ts";

let registry: Registry;
let config: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  config = originsOf(authority, registry);
});

afterEach(() => {
  registry.heal();
  registry.requests.clear();
});

afterAll(async () => {
  await registry.stop();
});

async function publish(type: string): Promise<void> {
  await registry.publish({ type, version: "1.0.0", size: 300_000 });
}

function archiveName(type: string): string {
  return `terraform-provider-${type}_1.0.0_linux_amd64.zip`;
}

describe("an archive that waits for its turn", () => {
  it("is served although the origin's share of downloads is taken for longer than an answer may take", async () => {
    const small = await startMirror({
      ...{ config, limits: { fillsPerOrigin: 1, answer: 1_500 } },
    });
    onTestFinished(() => small.kill());
    // Code that runs for the first time may take longer than this answer may.
    await publish("warm");
    const folder = "/providers/registry.terraform.io/acme";
    await awaitHit(small, `${folder}/warm/${archiveName("warm")}`);
    registry.requests.clear();
    const held = barrier();
    registry.script("archive", held.afterBytes(200_000));
    await Promise.all(["first", "second", "hung"].map(publish));
    registry.script("package", onlyFor(/hung/, hang));
    const ask = (type: string, document: string) =>
      small.get(`${folder}/${type}/${document}`);
    const first = ask("first", archiveName("first"));
    await held.reached;
    const second = ask("second", archiveName("second"));
    await registry.requests.reach("signature", 2);
    // Asked later and given as long as an answer may take: over when it is refused.
    expect((await ask("hung", "1.0.0.json")).status).toBe(504);
    held.release();
    expect((await first).status).toBe(200);
    expect((await second).status).toBe(200);
  });
});
