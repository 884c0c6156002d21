const MULTIPART = /^multipart\/form-data\b/i;
const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

/** The same request of the same class, with these fields as its body; those of a form as the form that it was. */
export function withFields<Incoming extends Request>(request: Incoming, fields: unknown): Incoming {
  const headers = new Headers(request.headers);
  headers.delete('content-length');
  const type = headers.get('content-type') ?? '';
  // With a boundary of its own.
  if (fields instanceof FormData && MULTIPART.test(type)) headers.delete('content-type');
  const body = fields instanceof FormData ? (MULTIPART.test(type) ? fields : textsOf(fields)) : JSON.stringify(fields);
  const { url, method, signal } = request;
  return Reflect.construct(request.constructor, [url, { method, headers, body, signal }]);
}

const textsOf = (form: FormData): URLSearchParams =>
  new URLSearchParams([...form].map(([name, value]): [string, string] => [name, String(value)]));

/** The fields of a Fetch API request, JSON or a form; null where it cannot be read. The request can be read again. */
export async function fieldsOf(request: Request): Promise<unknown> {
  const copy = request.clone();
  try {
    return FORMS.test(request.headers.get('content-type') ?? '') ? await copy.formData() : await copy.json();
  } catch {
    // No body, or none that is JSON or a form: it has no address.
    return null;
  }
}
