import { trustedCertificates } from "../../network/trusted-certificates.ts";
import type { Flags } from "../flags.ts";
import { nameMirror } from "../mirror-access.ts";
import { runVerb } from "../verb.ts";

export interface CompareFlags extends Flags {
  readonly with: string;
  readonly ca?: string;
}

export function compare(
  specs: readonly string[],
  { with: url, ca, ...flags }: CompareFlags,
): Promise<void> {
  const named = nameMirror("--with", url, ca);
  const { token, base } = named;
  const other = {
    ...{ token, base: base.href },
    ca: trustedCertificates(named.ca).join("\n"),
  };
  return runVerb("compare", { specs, ...other, ...flags });
}
