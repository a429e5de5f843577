import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import { startMirror } from "../../running-mirror.ts";
import {
  outcomeOf,
  requestsFor,
  runCommand,
} from "../../scenes/provider-requests.ts";
import { askEveryFace } from "../../scenes/registry-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

const hostname = "registry.terraform.io";
const hashicorp = "C874011F0AB405110D02105534365D9472D7468F";

it("a first contact under a stranger's key gives clients nothing, teaches no key, and is told by whose key it is not; the publisher's release is served once the registry is itself again", async () => {
  const { registry, config } = await startOrigin();
  const signer = await createSigner({ name: "HashiCorp Security" });
  const namespace = "hashicorp";
  for (const [type, version] of [
    ["null", "3.2.0"],
    ["null", "3.2.1"],
    ["other", "3.2.1"],
  ] as const)
    await registry.publish({ namespace, type, version, signer });
  const freshness = { versions: "0" };
  const mirror = await startMirror({ config: { ...config, freshness } });

  const { answers, lists } = await askEveryFace(
    mirror,
    ...(["3.2.1", "null", namespace] as const),
  );
  const base = "/v1/providers/hashicorp/null";
  const registered = await mirror.get(`/registry/${hostname}${base}/versions`);
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
  const name = `${hostname}/${namespace}`;
  const spec = `${name}/null@3.2.1`;
  for (const { status, stdout, stderr } of [
    await run("explain", spec),
    await run("prefetch", "--platform", "linux_amd64", spec),
  ]) {
    const [before = ""] = (stdout + stderr).split("provender trust approve");
    for (const said of [
      `its signing key ${signer.fingerprint} is not the publisher's (${hashicorp})`,
      `find out what answers this mirror as ${hostname}; only if the publisher announced another key`,
    ])
      expect(before).toContain(said);
    expect(status).toBe(1);
  }
  expect((await run("trust", "list")).stdout).toContain(
    `${name}/null 3.2.1: key ${signer.fingerprint}, not by the publisher's key ${hashicorp}`,
  );

  // Neither this provider nor the next one.
  const listed = await run("trust", "list", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({
    namespaces: [
      {
        ...{ namespace: name, knownKey: hashicorp },
        ...{ firstKey: null, providerKeys: [] },
      },
    ],
  });
  const other = requestsFor(mirror, "other", namespace);
  expect(await other.listed()).toBe("nothing-admitted");
  expect(await other.outcome("3.2.1")).toMatch(/^(?:451|404)/);

  const corpus = join(import.meta.dirname, "../../corpus");
  const read = (file: string) => readFileSync(join(corpus, file), "utf8");
  const [line = ""] = read("signatures.jsonl").split("\n");
  const real = JSON.parse(line) as Record<"document" | "signature", string>;
  const sums = Buffer.from(real.document, "base64");
  const filename = "terraform-provider-null_3.1.0_linux_amd64.zip";
  const [, shasum = ""] =
    new RegExp(`^(\\w+) {2}${filename}$`, "m").exec(String(sums)) ?? [];
  const platform = { os: "linux", arch: "amd64" };
  const protocols = ["5.0"];
  const versions = ["3.1.0", "3.2.0", "3.2.1"].map((version) => ({
    ...{ version, protocols, platforms: [platform] },
  }));
  const ascii_armor = read("keys/hashicorp.asc");
  registry.serve(`${base}/versions`, JSON.stringify({ versions }));
  registry.serve("/real/SHA256SUMS", sums, "text/plain");
  registry.serve("/real/SHA256SUMS.sig", Buffer.from(real.signature, "base64"));
  registry.serve(
    `${base}/3.1.0/download/linux/amd64`,
    JSON.stringify({
      ...{ ...platform, protocols, filename, shasum },
      download_url: `${registry.url}real/${filename}`,
      shasums_url: `${registry.url}real/SHA256SUMS`,
      shasums_signature_url: `${registry.url}real/SHA256SUMS.sig`,
      signing_keys: {
        gpg_public_keys: [{ key_id: "34365D9472D7468F", ascii_armor }],
      },
    }),
  );
  const ask = requestsFor(mirror, "null", namespace);
  await expect.poll(() => ask.listed(), { timeout: 20_000 }).toEqual(["3.1.0"]);
  const document = await ask.version("3.1.0");
  expect(outcomeOf(document)).toBe("200");
  expect(document.body.toString()).toContain(`zh:${shasum}`);
});
