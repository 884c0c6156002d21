const FORMS = /^(application\/x-www-form-urlencoded|multipart\/form-data)\b/i;

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
