import { Prose } from '../../parts/prose.tsx';
import type { Media } from './document.ts';
import { useDocument } from './query.ts';
import css from './reference.module.css';
import { type Field, fieldsOf, resolverOf, typeName } from './schema.ts';

/** The fields of a body. */
export function Body({ media: { schema } }: { media: Media }) {
  const resolve = resolverOf(useDocument());
  const fields = fieldsOf(schema, resolve);
  if (fields.length === 0)
    return (
      <p>
        <Prose text={typeName(resolve(schema), resolve)} />
      </p>
    );
  return <Fields fields={fields} />;
}

export const Fields = ({ fields }: { fields: readonly Omit<Field, 'path'>[] }) => (
  <ul className={css.fields}>
    {fields.map(({ name, type, required, meaning, fields: inner }) => (
      <li key={name}>
        <div className={css.line}>
          <code className="mono">{name}</code>
          <span className={css.type}>
            <Prose text={type} />
          </span>
          {!required && <span className={css.tag}>optional</span>}
        </div>
        {meaning && (
          <p>
            <Prose text={meaning} />
          </p>
        )}
        {inner.length > 0 && (
          <details>
            <summary>
              Fields of <code className="mono">{name}</code>
            </summary>
            <Fields fields={inner} />
          </details>
        )}
      </li>
    ))}
  </ul>
);
