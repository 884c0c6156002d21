import Type from 'typebox';

export const Pagination = Type.Object(
  {
    current_page: Type.Integer(),
    per_page: Type.Integer(),
    total_pages: Type.Integer(),
    total_count: Type.Integer(),
  },
  { title: 'Pagination' },
);
