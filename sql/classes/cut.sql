-- The table of combinations with the parts that were cut named anew.
--
-- Holes: state (the table of combinations), marks (per part that is cut its bits of each word),
-- cuts (per part and code of the bits the part that it goes to, new_part), words (how many there
-- are), carried (what models look at).
SELECT
  {% for w in range(words) %}
  state.word_{{ w }},
  {% endfor %}
  {% for column in carried %}
  state.{{ column }},
  {% endfor %}
  state.size,
  state.unit,
  COALESCE(cuts.new_part, state.part) AS part
FROM {{ state }} AS state
LEFT JOIN {{ marks }} AS marks
  ON state.part = marks.part
LEFT JOIN {{ cuts }} AS cuts
  ON state.part = cuts.part
  {% for w in range(words) %}
  AND cuts.word_{{ w }} = (state.word_{{ w }} & marks.mask_{{ w }})
  {% endfor %}
