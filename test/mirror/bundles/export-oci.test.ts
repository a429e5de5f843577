import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { digestOf } from "../../fakes/archive.ts";
import { scratch } from "../../running-mirror.ts";
import { startOrigin } from "../../scenes/world.ts";
import { connectedSite } from "./bundles.ts";

const platforms = ["darwin_arm64", "linux_amd64"];
const flags = platforms.flatMap((platform) => ["--platform", platform]);

const { authority, registry } = await startOrigin();
const release = await registry.publish({
  ...{ version: "1.2.3+build.4", platforms, size: 3000 },
});
await registry.publish({ version: "2.0.0", platforms });
const to = join(scratch("oci"), "layouts.oci");
const site = connectedSite(authority, registry);
// One version after the other, so that the second joins the first.
for (const version of ["2.0.0", "1.2.3+build.4"]) {
  const spec = `acme/widget@${version}`;
  const ran = await site.run("export", "--to", to, ...flags, spec);
  expect(ran).toMatchObject({ status: 0 });
}
const layout = join(to, "registry.terraform.io", "acme", "widget");

interface Descriptor {
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The content of a descriptor, which has to be what it says. */
function open({ digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(join(layout, "blobs", digest.replace(":", "/")));
  expect(`sha256:${digestOf(bytes)}`).toBe(digest);
  expect(bytes).toHaveLength(size);
  return bytes;
}

const read = (bytes: Buffer) =>
  JSON.parse(String(bytes)) as {
    readonly config: Descriptor;
    readonly manifests: readonly Descriptor[];
    readonly layers: readonly [Descriptor];
  };

it("an OCI image layout has one artifact a version, with a manifest for each platform and the publisher's archives", () => {
  expect(read(readFileSync(join(layout, "oci-layout")))).toEqual({
    imageLayoutVersion: "1.0.0",
  });
  const { manifests } = read(readFileSync(join(layout, "index.json")));
  const tags = manifests.map(
    (one) => one.annotations?.["org.opencontainers.image.ref.name"],
  );
  expect(tags).toEqual(["2.0.0", "1.2.3_build.4"]);
  const [index] = manifests.slice(1).map((one) => read(open(one)));
  const artifactType = "application/vnd.opentofu.provider-target";
  expect(index).toMatchObject({
    mediaType: "application/vnd.oci.image.index.v1+json",
    artifactType: "application/vnd.opentofu.provider",
    manifests: [
      { artifactType, platform: { architecture: "arm64", os: "darwin" } },
      { artifactType, platform: { architecture: "amd64", os: "linux" } },
    ],
  });
  for (const [at, one] of index?.manifests.entries() ?? []) {
    const manifest = read(open(one));
    expect(manifest).toMatchObject({
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      ...{ artifactType, layers: [{ mediaType: "archive/zip" }] },
    });
    expect(String(open(manifest.config))).toBe("{}");
    const { bytes } = release.archive(platforms[at] ?? "");
    expect(open(manifest.layers[0]).equals(bytes)).toBe(true);
  }
});
