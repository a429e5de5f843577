import {
  formatModuleAddress,
  moduleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import {
  formatProviderAddress,
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import {
  isVersion,
  parseVersion,
  type Version,
} from "../../address/version.ts";

/** What somebody wants to know of: a provider or module, or one version of it. */
export type WhyQuestion = (
  { readonly provider: ProviderAddress } | { readonly module: ModuleAddress }
) & { readonly version: Version | undefined };

/**
 * `HOSTNAME/NAMESPACE/TYPE[/VERSION]`, or `HOSTNAME/NAMESPACE/NAME/SYSTEM[/VERSION]`:
 * no target system has the dots of a version. Throws MalformedAddress.
 */
export function parseWhyPath(path: string): WhyQuestion {
  const parts = path.split("/");
  const last = parts.at(-1) ?? "";
  const isVersioned = parts.length > 4 || (parts.length > 3 && isVersion(last));
  const version = isVersioned ? parseVersion(last) : undefined;
  const name = isVersioned ? parts.slice(0, -1) : parts;
  const [hostname = "", namespace = "", module = "", system] = name;
  return system === undefined
    ? { provider: parseProviderAddress(name.join("/")), version }
    : { module: moduleAddress(hostname, namespace, module, system), version };
}

/** `[HOSTNAME/]NAMESPACE/TYPE[@VERSION]`, or a module with all its parts. Throws MalformedAddress. */
export function parseWhySpec(spec: string): WhyQuestion {
  const [name = "", version] = spec.split("@", 2);
  const isShort = name.split("/").length < 3;
  const full = isShort
    ? formatProviderAddress(parseProviderAddress(name))
    : name;
  return parseWhyPath(version === undefined ? full : `${full}/${version}`);
}

/** What `parseWhyPath` reads; with a space before the version it is for people. */
export function formatQuestion(question: WhyQuestion, before = "/"): string {
  const name =
    "provider" in question
      ? formatProviderAddress(question.provider)
      : formatModuleAddress(question.module);
  const { version } = question;
  return version === undefined ? name : `${name}${before}${version}`;
}
