import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A program beside Terraform and OpenTofu that build-clients.sh installed. */
interface Program {
  readonly name: string;
  readonly version: string;
  /** Command that its own test runs. */
  readonly runs: string;
}

const folder = process.env.PROVENDER_CLIENTS ?? "";

/** The folder of Renovate's package; undefined where it is not installed. */
export const renovate = ifThere(
  join(folder, "renovate", "node_modules", "renovate"),
);

/** The Python that has Checkov; undefined where it is not installed. */
export const checkovPython = ifThere(join(folder, "checkov", "bin", "python"));

/** Programs that build-clients.sh named NAME-VERSION; undefined where they are not built. */
export const tfupdate = findBuilt("tfupdate");

/** Lists what is installed, and says on standard error what is not. */
export function listPrograms(): readonly Program[] {
  return [
    {
      name: "Renovate",
      version: renovate && versionOfPackage(renovate),
      runs: "versions of providers and modules; with a token, under `minimumAge`",
    },
    {
      name: "Checkov",
      version: checkovPython && versionOfDistribution("checkov"),
      runs: "download and scan of a module; with a token",
    },
    {
      name: "tfupdate",
      version: tfupdate?.version,
      runs: "newest versions of a provider and a module, hashes of two platforms; it sends no token",
    },
  ].flatMap(({ version, ...program }) => {
    if (version !== undefined) return [{ ...program, version }];
    console.error(`NOT TESTED with ${program.name}: it is not built.`);
    return [];
  });
}

function ifThere(path: string): string | undefined {
  return folder !== "" && existsSync(path) ? path : undefined;
}

interface BuiltProgram {
  readonly binary: string;
  readonly version: string;
}

function findBuilt(name: string): BuiltProgram | undefined {
  const [file] = folder === "" ? [] : globSync(`${name}-*`, { cwd: folder });
  if (file === undefined) return undefined;
  return { binary: join(folder, file), version: file.slice(name.length + 1) };
}

function versionOfPackage(path: string): string {
  const text = readFileSync(join(path, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

function versionOfDistribution(name: string): string | undefined {
  const [found = ""] = globSync(
    `${name}/lib/python*/site-packages/${name}-*.dist-info`,
    { cwd: folder },
  );
  return /-([\d.]+)\.dist-info$/.exec(found)?.[1];
}
