/** NIST SP 800-63B §5.1.1.2: passwords have a length requirement, but no composition rules. */
export const PASSWORD_LENGTH = { min: 12, max: 256 };
