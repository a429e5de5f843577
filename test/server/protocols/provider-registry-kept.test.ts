import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { layOutStore } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
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

describe("records of earlier versions", () => {
  it("are read without what they did not keep", async () => {
    const type = "old";
    const old = await registry.publish({ type, version: "1.0.0" });
    const before = await new RegistryRequests(mirror, type).document("1.0.0");
    await mirror.stop();
    const { directory } = mirror;
    const records = new DiskRecords(layOutStore(directory));
    const key = ["providers", "registry.terraform.io", "acme", type];
    const path = [...key, "releases", "1.0.0"];
    const asItIs = (body: unknown) => body as Record<string, unknown>;
    await records.change(path, asItIs, (record) => {
      expect(record?.keyLabels).toHaveLength(1);
      return { ...record, keyLabels: undefined };
    });
    mirror = await startMirror({ config, directory });
    const found = await new RegistryRequests(mirror, type).document("1.0.0");
    expect(found).toEqual({
      ...before,
      // Those of another port.
      download_url: found.download_url,
      shasums_url: found.shasums_url,
      shasums_signature_url: found.shasums_signature_url,
      signing_keys: {
        gpg_public_keys: [
          {
            key_id: old.signer.keyId,
            ascii_armor: old.signer.armoredPublicKey,
            trust_signature: "",
            source: "",
            source_url: null,
          },
        ],
      },
    });
  });
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
