-- The list that is printed every morning: who gets which of the items that came back.
WITH returned AS (
    SELECT item.id, item.title_id, item.shelf_mark
    FROM item
    JOIN loan ON loan.item_id = item.id
    WHERE loan.returned_on = CURRENT_DATE - 1
),
queue AS (
    SELECT hold.title_id,
           hold.card,
           ROW_NUMBER() OVER (PARTITION BY hold.title_id ORDER BY hold.placed_at) AS place
    FROM hold
    WHERE hold.fulfilled_on IS NULL
)
SELECT right(queue.card, 4) AS last_four, returned.shelf_mark
FROM returned
JOIN queue ON queue.title_id = returned.title_id AND queue.place = 1
ORDER BY last_four;
