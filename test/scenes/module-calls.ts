import { tarGz, zip } from "../fakes/module-archive.ts";
import {
  startModuleRegistry,
  type ModuleRegistry,
} from "../fakes/module-registry.ts";
import { moduleHost, startOrigins } from "./world.ts";

/** Every provider that the modules require together, with its newest allowed version. */
export const requiredTogether = [
  "cog 3.1.0",
  "gadget 3.1.0",
  "wheel 3.1.0",
  "widget 1.5.0",
].map((one) => `registry.terraform.io/acme/${one}`);

export { moduleHost };
export const providerHost = "registry.terraform.io";
export const otherHost = "others.example.com:8443";

export function requiring(type: string, constraint: string): string {
  return `terraform {\n  required_providers {\n    ${type} = { source = "${providerHost}/acme/${type}", version = "${constraint}" }\n  }\n}\n`;
}

export function calling(source: string, version?: string): string {
  const constraint = version === undefined ? "" : `  version = "${version}"\n`;
  return `module "called" {\n  source = "${source}"\n${constraint}}\n`;
}

/** Modules of two registries that call one another, and the providers that each requires. */
export async function makeModuleCalls() {
  const { authority, registry, modules, config, ca } = await startOrigins();
  const others = await startModuleRegistry({ authority });
  const platforms = ["linux_amd64"];
  for (const version of ["1.0.0", "1.5.0", "2.0.0"])
    await registry.publish({ version, platforms });
  for (const type of ["gadget", "wheel", "cog"])
    await registry.publish({ type, version: "3.1.0", platforms });
  await publish(modules, others);
  const origins = { ...config.origins, [otherHost]: { url: others.url, ca } };
  return { providers: registry, modules, config: { origins } };
}

async function publish(
  modules: ModuleRegistry,
  others: ModuleRegistry,
): Promise<void> {
  const network = await tarGz([
    [
      "network-1/main.tf",
      calling("./modules/rules") + requiring("widget", ">= 1.0"),
    ],
    [
      "network-1/modules/rules/main.tf",
      calling(`${moduleHost}/acme/subnet/aws//deep/inner`, "~> 2.0"),
    ],
    ["network-1/modules/rules/versions.tf", requiring("gadget", "~> 3.0")],
    ["network-1/examples/full/main.tf", requiring("absent", "1.0.0")],
  ]);
  const subnet = await zip([
    ["main.tf", requiring("absent", "1.0.0")],
    [
      "deep/inner/main.tf",
      calling(`${otherHost}/acme/base/aws`) + requiring("wheel", ">= 3"),
    ],
  ]);
  const base = await tarGz([
    ["main.tf", requiring("widget", "< 2.0.0") + calling("./cog")],
    [
      "cog/main.tf.json",
      JSON.stringify({
        terraform: {
          required_providers: { cog: { source: `${providerHost}/acme/cog` } },
        },
      }),
    ],
  ]);
  for (const version of ["1.0.0", "1.1.0"]) {
    const url = modules.serve(`/network-${version}.tar.gz`, network);
    const folder = version === "1.0.0" ? "*" : "network-1";
    const location = `${url}//${folder}?archive=tar.gz`;
    modules.publish("acme/network/aws", version, location);
  }
  modules.publish(
    "acme/subnet/aws",
    "2.3.0",
    modules.serve("/subnet.zip", subnet),
  );
  modules.publish(
    "acme/subnet/aws",
    "3.0.0",
    "s3::https://s3.example.com/subnet.zip",
  );
  others.publish("acme/base/aws", "0.4.0", others.serve("/base.tar.gz", base));
}
