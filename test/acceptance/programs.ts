import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What build-clients.sh installed; undefined where it is not there. */
function find(pattern: string): string | undefined {
  const folder = process.env.PROVENDER_CLIENTS;
  return folder === undefined ? undefined : globSync(join(folder, pattern))[0];
}

/** The folder of Renovate's package. */
export const renovate = find("renovate/node_modules/renovate");

/** The Python that has Checkov. */
export const checkovPython = find("checkov/bin/python");
const checkov = find("checkov/lib/python*/site-packages/checkov-*.dist-info");

export const tfupdate = find("tfupdate-*");

const versionIn = (path: string | undefined) =>
  /-([\d.]+)(?:\.dist-info)?$/.exec(path ?? "")?.[1];

function versionOfPackage(path: string): string {
  const text = readFileSync(join(path, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Programs beside Terraform and OpenTofu with what their own tests run; says on standard error what is not installed. */
export function listPrograms() {
  return [
    {
      name: "Renovate",
      version: renovate && versionOfPackage(renovate),
      runs: "versions of providers and modules; with a token, under `minimumAge`",
    },
    {
      name: "Checkov",
      version: versionIn(checkov),
      runs: "download and scan of a module; with a token",
    },
    {
      name: "tfupdate",
      version: versionIn(tfupdate),
      runs: "newest versions of a provider and a module, hashes of two platforms; it sends no token",
    },
  ].flatMap(({ version, ...program }) => {
    if (version !== undefined) return [{ ...program, version }];
    console.error(`NOT TESTED with ${program.name}: it is not built.`);
    return [];
  });
}
