import type { AwsCredentialIdentity, Provider } from "@smithy/types";
import type { BucketKeys } from "./bucket-settings.ts";

/**
 * The keys of the configuration, or else what the AWS SDK finds: environment,
 * shared files, web identity, container or instance. Its many files are loaded
 * only then, and what it finds is kept until five minutes before it expires.
 */
export function makeCredentials(
  keys: BucketKeys | undefined,
): Provider<AwsCredentialIdentity> {
  if (keys !== undefined) return () => Promise.resolve(keys);
  let found: Promise<Provider<AwsCredentialIdentity>> | undefined;
  return async () => {
    found ??= loadDefaultProvider();
    return (await found)();
  };
}

async function loadDefaultProvider(): Promise<Provider<AwsCredentialIdentity>> {
  const { defaultProvider } = await import("@aws-sdk/credential-provider-node");
  return defaultProvider({ timeout: 2_000, maxRetries: 1 });
}
