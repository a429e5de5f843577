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
import { readEitherSpec, type SpecHosts } from "../../address/specs/spec.ts";
import {
  isVersion,
  parseVersion,
  type Version,
} from "../../address/version.ts";

/** The subject of a question: a provider or module, or one version of it. */
export type WhyQuestion = (
  { readonly provider: ProviderAddress } | { readonly module: ModuleAddress }
) & { readonly version: Version | undefined };

/**
 * `HOSTNAME/NAMESPACE/TYPE[/VERSION]`, or `HOSTNAME/NAMESPACE/NAME/SYSTEM[/VERSION]`:
 * no target system has the dots of a version. Throws malformed-address.
 */
export function parseWhyPath(path: string): WhyQuestion {
  const parts = path.split("/");
  const last = parts.at(-1) ?? "";
  const isVersioned = parts.length > 4 || (parts.length > 3 && isVersion(last));
  return isVersioned
    ? readQuestion(parts.slice(0, -1), last)
    : readQuestion(parts, undefined);
}

/** Reads the SPEC of a provider or module, with one version or none. Throws malformed-address. */
export function parseWhySpec(spec: string, hosts: SpecHosts): WhyQuestion {
  const { chosen, ...subject } = readEitherSpec(spec, hosts);
  const version = chosen === undefined ? undefined : parseVersion(chosen);
  return { ...subject, version };
}

function readQuestion(
  name: readonly string[],
  written: string | undefined,
): WhyQuestion {
  const version = written === undefined ? undefined : parseVersion(written);
  const [hostname = "", namespace = "", module = "", system = ""] = name;
  return name.length === 4
    ? { module: moduleAddress(hostname, namespace, module, system), version }
    : { provider: parseProviderAddress(name.join("/")), version };
}

/**
 * Formats a question as `parseWhyPath` parses it; a space before the version is
 * for people.
 */
export function formatQuestion(question: WhyQuestion, before = "/"): string {
  const name =
    "provider" in question
      ? formatProviderAddress(question.provider)
      : formatModuleAddress(question.module);
  const { version } = question;
  return version === undefined ? name : `${name}${before}${version}`;
}
