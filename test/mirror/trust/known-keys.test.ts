import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import { originsOf } from "../../origins.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { askEveryFace } from "../../scenes/registry-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

const terraform = "registry.terraform.io";
const tofu = "registry.opentofu.org";
const hashicorp = "C874011F0AB405110D02105534365D9472D7468F";
const opentofu = "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80";

const { authority, registry, config } = await startOrigin();
const stranger = await createSigner({ name: "HashiCorp Security" });
for (const namespace of ["hashicorp", "opentofu"]) {
  for (const version of ["3.2.0", "3.2.1"])
    await registry.publish({
      ...{ namespace, type: "null", version, signer: stranger },
    });
  await registry.publish({
    ...{ namespace, type: "other", version: "3.2.1", signer: stranger },
  });
}
const loose = { signatures: "when-published" };
const mirror = await startMirror({
  config: {
    origins: {
      ...config.origins,
      ...originsOf(authority, registry, loose, tofu).origins,
    },
    freshness: { versions: "0" },
  },
});

it.each([
  [terraform, "hashicorp", hashicorp],
  [tofu, "hashicorp", opentofu],
  [tofu, "opentofu", opentofu],
])(
  "a first contact with %s/%s under a stranger's key gives clients nothing, teaches no key, and is told by whose key it is not",
  async (hostname, namespace, key) => {
    const name = `${hostname}/${namespace}`;
    const asked = ["3.2.1", "null", namespace, hostname] as const;
    const { answers, lists } = await askEveryFace(mirror, ...asked);
    const base = `/registry/${hostname}/v1/providers/${namespace}/null`;
    const registered = await mirror.get(`${base}/versions`);
    for (const answer of Object.values({ ...answers, ...lists, registered }))
      expect(outcomeOf(answer)).toMatch(
        /^451 (?:nothing-admitted|key-refused|no body)$/,
      );
    const stored = readdirSync(join(mirror.directory, "blobs"), {
      recursive: true,
      withFileTypes: true,
    });
    expect(stored.filter((one) => one.isFile())).toEqual([]);

    const run = (...args: readonly string[]) => runCommand(mirror, ...args);
    const spec = `${name}/null@3.2.1`;
    for (const { status, stdout, stderr } of [
      await run("explain", spec),
      await run("prefetch", "--platform", "linux_amd64", spec),
    ]) {
      const [before = ""] = (stdout + stderr).split("provender trust approve");
      for (const said of [
        `its signing key ${stranger.fingerprint} is not the publisher's (${key})`,
        `find out what answers this mirror as ${hostname}; only if the publisher announced another key`,
      ])
        expect(before).toContain(said);
      expect(status).toBe(1);
    }
    expect((await run("trust", "list")).stdout).toContain(
      `${name}/null 3.2.1: key ${stranger.fingerprint}, not by the publisher's key ${key}`,
    );

    // Neither this provider nor the next one.
    const listed = await run("trust", "list", "--json");
    const trust = { knownKey: key, firstKey: null, providerKeys: [] };
    expect(JSON.parse(listed.stdout)).toMatchObject({
      namespaces: expect.arrayContaining([
        expect.objectContaining({ namespace: name, ...trust }),
      ]) as unknown,
    });
    const other = requestsFor(mirror, "other", namespace, hostname);
    expect(await other.listed()).toBe("nothing-admitted");
    expect(await other.outcome("3.2.1")).toMatch(/^(?:451|404)/);
  },
);

it("a first contact without any signature gives nothing either, where unsigned releases are taken", async () => {
  const type = "unsigned";
  await registry.publish({
    ...{ namespace: "opentofu", type, version: "1.0.0", signingKeys: [] },
  });
  const ask = requestsFor(mirror, type, "opentofu", tofu);
  expect(await ask.listed()).toBe("nothing-admitted");
});

it("once the registry is itself again, the publisher's release is served, and the stranger's is not", async () => {
  const corpus = join(import.meta.dirname, "../../corpus");
  const read = (file: string) => readFileSync(join(corpus, file), "utf8");
  const [line = ""] = read("signatures.jsonl").split("\n");
  const real = JSON.parse(line) as Record<"document" | "signature", string>;
  const sums = Buffer.from(real.document, "base64");
  const filename = "terraform-provider-null_3.1.0_linux_amd64.zip";
  const [, shasum = ""] =
    new RegExp(`^(\\w+) {2}${filename}$`, "m").exec(String(sums)) ?? [];
  const base = "/v1/providers/hashicorp/null";
  const platforms = [{ os: "linux", arch: "amd64" }];
  const versions = ["3.1.0", "3.2.0", "3.2.1"].map((version) => ({
    ...{ version, protocols: ["5.0"], platforms },
  }));
  const ascii_armor = read("keys/hashicorp.asc");
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  registry.serve("/real/SHA256SUMS", sums, "text/plain");
  registry.serve("/real/SHA256SUMS.sig", Buffer.from(real.signature, "base64"));
  registry.serve(
    `${base}/3.1.0/download/linux/amd64`,
    JSON.stringify({
      ...{ protocols: ["5.0"], os: "linux", arch: "amd64", filename, shasum },
      download_url: `${registry.url}real/${filename}`,
      shasums_url: `${registry.url}real/SHA256SUMS`,
      shasums_signature_url: `${registry.url}real/SHA256SUMS.sig`,
      signing_keys: {
        gpg_public_keys: [{ key_id: "34365D9472D7468F", ascii_armor }],
      },
    }),
  );
  const ask = requestsFor(mirror, "null", "hashicorp", terraform);
  await expect.poll(() => ask.listed(), { timeout: 20_000 }).toEqual(["3.1.0"]);
  const document = await ask.version("3.1.0");
  expect(outcomeOf(document)).toBe("200");
  expect(document.body.toString()).toContain(`zh:${shasum}`);
});
