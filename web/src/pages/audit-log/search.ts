/** Search parameters of the page. */
interface AuditLogSearch {
  about?: 'account' | 'user';
}

export const auditLogSearch = ({ about }: Record<string, unknown>): AuditLogSearch =>
  about === 'account' || about === 'user' ? { about } : {};
