import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { typeOfModule } from "../../address/specs/trust-scope.ts";
import type { Version } from "../../address/version.ts";
import type { ReleaseAddress } from "../releases/release.ts";

/** A release of a provider or of a module. */
export type Subject =
  | ReleaseAddress
  | { readonly module: ModuleAddress; readonly version: Version };

/** Names the release as records and decisions do. */
export function nameSubject(subject: Subject): ReleaseAddress {
  if (!("module" in subject)) return subject;
  const { module, version } = subject;
  return { provider: typeOfModule(module), version };
}

/** Names the release as alarms and the audit log do. */
export function factsOf(subject: Subject) {
  const { version } = subject;
  return "module" in subject
    ? { module: formatModuleAddress(subject.module), version }
    : { provider: formatProviderAddress(subject.provider), version };
}
