import { afterAll, beforeAll, expect, it } from "vitest";
import { createAuthority, type Authority } from "../../fakes/authority.ts";
import { startRegistry, type Registry } from "../../fakes/registry.ts";
import { createSigner } from "../../fakes/signing.ts";
import {
  connectedSite,
  exportBundle,
  offlineSite,
} from "../../mirror/bundles/bundles.ts";
import { runCommand } from "../../running-command.ts";
import { readAudit } from "../../scenes/provider-requests.ts";

let authority: Authority;
let registry: Registry;
beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
});
afterAll(() => registry.stop());

it.each([
  ["key-new", "accept", "new-key", 0],
  ["key-refused", "accept-first", "quarantined", 1],
  ["key-refused", "refuse", "quarantined", 1],
] as const)(
  "an import tells of %s under newKeys: %s on standard error, with the decision",
  async (alarm, newKeys, event, status) => {
    const namespace = `${alarm}-${newKeys}`;
    const publish = async (version: string) => {
      const signer = await createSigner({ name: version });
      await registry.publish({ namespace, version, signer });
      return { fingerprint: signer.fingerprint };
    };
    const bundle = (version: string) =>
      exportBundle(
        connectedSite(authority, registry, {
          config: { trust: { newKeys: "accept" } },
        }),
        `${namespace}/widget@${version}`,
      );
    const { fingerprint: known } = await publish("1.0.0");
    const first = await bundle("1.0.0");
    const { fingerprint } = await publish("1.1.0");
    const second = await bundle("1.1.0");
    const keys = [
      { match: `registry.terraform.io/${namespace}/*`, fingerprints: [known] },
    ];
    const trust = { newKeys, ...(newKeys === "refuse" && { keys }) };
    const site = offlineSite({ config: { trust } });
    const flags = ["--config", site.configFile];
    const read = (file: string) => runCommand(["import", ...flags, file]);
    expect((await read(first)).stderr).not.toContain('"alarm"');
    const ran = await read(second);
    expect(ran.status).toBe(status);
    const alarms = ran.stderr
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as object);
    const provider = `registry.terraform.io/${namespace}/widget`;
    expect(alarms).toEqual([
      expect.objectContaining({ alarm, provider, fingerprint }),
    ]);
    expect(readAudit(site)).toContainEqual(
      expect.objectContaining({ event, provider, fingerprint }),
    );
  },
);
