/**
 * Where clouds hand out the machine's own credentials. No policy opens these. The names are for
 * requests that a proxy of ours would resolve; the addresses hold for every name.
 */
const NAMES: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "metadata.azure.internal",
  "metadata.platformequinix.com",
  "metadata.packet.net",
  "metadata.tencentyun.com",
  "instance-data",
  "instance-data.ec2.internal",
]);

/** The link-local ranges are closed as a whole; these are the others, and the best known of it. */
export const METADATA_ADDRESSES: readonly string[] = [
  "169.254.169.254",
  "169.254.170.2",
  "168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:42::42",
];

/** Takes a canonical host, an address without brackets. */
export function isMetadataHost(host: string): boolean {
  return NAMES.has(host) || METADATA_ADDRESSES.includes(host);
}
