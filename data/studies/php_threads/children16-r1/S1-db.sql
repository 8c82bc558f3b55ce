CREATE DATABASE lab;
CREATE TABLE lab.items (id INT PRIMARY KEY, name VARCHAR(32) NOT NULL);
INSERT INTO lab.items SELECT seq, CONCAT('item ', seq) FROM lab.seq_1_to_1000;
