import { createHash } from "node:crypto";
import { basename } from "node:path";
import { sha256 } from "./archives.ts";
import { listLibraries } from "./image.ts";
import { readComponent } from "./licenses.ts";
import { run, type Source } from "./project.ts";

/** A CycloneDX component, https://cyclonedx.org/docs/1.6/json/. */
interface Component {
  readonly type: "application" | "library";
  readonly name: string;
  readonly version: string;
  readonly [key: string]: unknown;
}

/** provender.cdx.json: everything that the released files contain, down to the libraries of the image. */
export async function formatBillOfMaterials(
  source: Source,
  packages: readonly string[],
): Promise<string> {
  const { version, commit, epoch } = source;
  const components = [
    await describeNode(),
    ...(await Promise.all(packages.map(describePackage))),
    ...(await describeLibraries()),
  ];
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`${version} ${commit}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": `pkg:npm/provender@${version}`,
        name: "provender",
        version,
        purl: `pkg:npm/provender@${version}`,
        licenses: [{ license: { id: "Apache-2.0" } }],
      },
    },
    components: withoutRepetition(components),
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

async function describeNode(): Promise<Component> {
  const purl = `pkg:generic/node@${process.versions.node}`;
  return {
    type: "application",
    "bom-ref": purl,
    name: "node",
    version: process.versions.node,
    purl,
    hashes: [{ alg: "SHA-256", content: await sha256(process.execPath) }],
    licenses: [{ license: { id: "MIT" } }],
  };
}

async function describePackage(folder: string): Promise<Component> {
  const { name, version, license } = await readComponent(folder);
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const isOne = /^[A-Za-z0-9.-]+$/.test(license);
  const licenses = isOne
    ? [{ license: { id: license } }]
    : [{ expression: license }];
  return { type: "library", "bom-ref": purl, name, version, purl, licenses };
}

/** Describes the image's system libraries, which come from the machine that packs it. */
async function describeLibraries(): Promise<readonly Component[]> {
  const libraries = await listLibraries();
  return Promise.all(
    libraries.map(async ({ file }) => ({
      type: "library" as const,
      "bom-ref": `file:${basename(file)}`,
      name: basename(file),
      version: await versionOf(file),
      hashes: [{ alg: "SHA-256", content: await sha256(file) }],
    })),
  );
}

/** Returns the version of the Debian package that owns a file, or "unknown". */
async function versionOf(file: string): Promise<string> {
  try {
    const found = await run("dpkg", ["--search", `*/${basename(file)}`]);
    const [name = ""] = found.split(": ");
    return await run("dpkg-query", ["--show", "--showformat=${Version}", name]);
  } catch {
    return "unknown";
  }
}

function withoutRepetition(
  components: readonly Component[],
): readonly Component[] {
  const byRef = new Map(components.map((one) => [one["bom-ref"], one]));
  return [...byRef.values()];
}

/** The same for the same text (RFC 9562, version 8). */
function uuidOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  return hash.replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    "$1-$2-8$3-8$4-$5",
  );
}

/** provenance.json: the commit and everything else that the released files were made of. */
export async function formatProvenance(
  source: Source,
  lockFile: string,
  outputs: Readonly<Record<string, string>>,
): Promise<string> {
  const libraries = await listLibraries();
  const inputs = {
    "package-lock.json": await sha256(lockFile),
    [`node ${process.version}`]: await sha256(process.execPath),
  };
  const used = await Promise.all(
    libraries.map(
      async ({ name, file }) => [name, await sha256(file)] as const,
    ),
  );
  const document = {
    version: 1,
    provender: source.version,
    commit: source.commit,
    committed: new Date(source.epoch * 1000).toISOString(),
    changed: source.changed,
    command: "npm ci && npm run package",
    inputs,
    imageLibraries: Object.fromEntries(used),
    outputs,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
