/** The version of this package. */
export const CLIENT_VERSION = "1.0.0";

/** The header by which the service's log tells clients apart. */
export const VERSION_HEADER = "X-Client-Version";
