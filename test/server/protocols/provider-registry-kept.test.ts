import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAuthority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { originsOf } from "../../origins.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { RegistryRequests } from "../../scenes/registry-requests.ts";

let registry: Registry;
let mirror: RunningMirror;
let config: Readonly<Record<string, unknown>>;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  config = originsOf(authority, registry);
  mirror = await startMirror({ config });
});

afterAll(async () => {
  await mirror.stop();
  await registry.stop();
});

describe("offline", () => {
  it("lists what is stored, and gives it with its proof", async () => {
    const type = "shelf";
    for (const version of ["1.0.0", "2.0.0"])
      await registry.publish({ type, version });
    const ask = new RegistryRequests(mirror, type);
    const found = await ask.document("1.0.0");
    await ask.follow(found.download_url, "1.0.0");
    await ask.document("2.0.0");
    await mirror.stop();
    const { directory } = mirror;
    mirror = await startMirror({
      config: { ...config, offline: true },
      directory,
    });
    const alone = new RegistryRequests(mirror, type);
    const { versions } = (await alone.versions()).json() as {
      versions: { version: string }[];
    };
    expect(versions.map(({ version }) => version)).toEqual(["1.0.0"]);
    const stored = await alone.document("1.0.0");
    for (const url of [
      stored.download_url,
      stored.shasums_url,
      stored.shasums_signature_url,
    ])
      expect((await alone.follow(url, "1.0.0")).status).toBe(200);
  });
});
