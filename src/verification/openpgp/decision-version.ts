/** The version of the rules in this folder; it changes when the same question may get another answer. */
const rules = 4;

/**
 * Version of the decision, as recorded with verdicts: these rules, and the
 * OpenSSL that does the arithmetic.
 */
export const decisionVersion = `provender openpgp ${rules}.0, node ${process.versions.node}, openssl ${process.versions.openssl}`;
