import { trustedCertificates } from "../../network/trusted-certificates.ts";
import { nameMirror } from "../mirror-access.ts";
import { runVerb } from "../verb.ts";

interface CompareFlags {
  readonly with: string;
  readonly ca?: string;
}

export function compare({
  with: url,
  ca,
  ...flags
}: CompareFlags): Promise<number> {
  const named = nameMirror("--with", url, ca);
  const { token, base } = named;
  const authority = trustedCertificates(named.ca).join("\n");
  const other = { token, base: base.href, ca: authority };
  return runVerb("compare", { ...flags, ...other });
}
