/** A release of a provider by the parts of its name. */
export interface ProviderRelease {
  readonly provider: {
    readonly hostname: string;
    readonly namespace: string;
    readonly type: string;
  };
  readonly version: string;
}

/** `HOSTNAME/NAMESPACE/TYPE`, as commands take it. */
export function nameProvider({ provider }: ProviderRelease): string {
  return `${provider.hostname}/${provider.namespace}/${provider.type}`;
}
